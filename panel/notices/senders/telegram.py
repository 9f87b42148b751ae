"""Telegram's bot: HTML of few tags, at most 4,096 characters. The token is part of the address."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from html import escape
from typing import Final

from panel.notices.message import Message, Part, Request, Target, Trouble
from panel.notices.senders.text import JSON, as_json, cut, plain

SERVER: Final = "https://api.telegram.org"
MOST: Final = 4_096
LINE: Final = 300


def request_for(target: Target, message: Message, now: datetime) -> Request:
    """Return the request. It is cut by whole parts, so that no tag is left open."""
    link = f'<a href="{escape(message.link)}">{escape(message.link_label)}</a>' if message.link else ""
    blocks = [f"<b>{escape(cut(message.title, LINE))}</b>"]
    for part in message.parts or (Part("", cut(plain(message), MOST // 2)),):
        if sum(len(block) + 2 for block in (*blocks, _of(part), link)) <= MOST:
            blocks.append(_of(part))
    said = {
        "chat_id": target.setting("chat"),
        "text": "\n\n".join(block for block in (*blocks, link) if block),
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
    }
    server = target.setting("server") or SERVER
    return Request(f"{server}/bot{target.address()}/sendMessage", as_json(said), JSON)


def refusal(answer: object, text: str) -> tuple[Trouble, str] | None:
    """`ok` is true for a message that was taken."""
    if not isinstance(answer, Mapping):
        return Trouble.ODD_ANSWER, ""
    return None if answer.get("ok") is True else (Trouble.SAID_NO, str(answer.get("error_code", ""))[:10])


def _of(part: Part) -> str:
    label = f"<b>{escape(part.label)}</b>" if part.label else ""
    items = [f"• {escape(cut(item, LINE))}" for item in part.items]
    return "\n".join(line for line in (label, escape(part.text), *items) if line)
