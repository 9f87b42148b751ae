"""Slack's incoming webhook: blocks, each under the 3,000 characters that Slack takes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from panel.notices.message import Message, Part, Request, Target, Trouble
from panel.notices.senders.text import JSON, as_json, cut, plain

SECTION: Final = 3_000
HEADER: Final = 150
BLOCKS: Final = 50
LINE: Final = 250


def request_for(target: Target, message: Message, now: datetime) -> Request:
    """Return the request. The title is plain text; all else is escaped mrkdwn."""
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": cut(message.title, HEADER)}}
    ]
    texts = [_of(part) for part in message.parts] or [escaped(plain(message))]
    if message.link:
        texts.append(f"<{message.link}|{escaped(message.link_label or message.link)}>")
    sections = [cut(text, SECTION) for text in texts if text][: BLOCKS - 1]
    blocks += [{"type": "section", "text": {"type": "mrkdwn", "text": text}} for text in sections]
    return Request(target.address(), as_json({"text": escaped(message.title), "blocks": blocks}), JSON)


def escaped(text: str) -> str:
    """Return text that neither links nor calls anybody, as Slack asks for it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def refusal(answer: object, text: str) -> tuple[Trouble, str] | None:
    """Slack says no by its status."""
    return None


def _of(part: Part) -> str:
    label = f"*{escaped(part.label)}*" if part.label else ""
    items = [f"• {escaped(cut(item, LINE))}" for item in part.items]
    return "\n".join(line for line in (label, escaped(part.text), *items) if line)
