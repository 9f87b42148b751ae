"""Microsoft Teams' workflow webhook ("when a Teams webhook request is received"): one adaptive card."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from panel.notices.message import Message, Part, Request, Target, Trouble
from panel.notices.senders.text import JSON, as_json, cut, plain, unmarked

LINE: Final = 2_000
COLOURS: Final = {"down": "Attention", "degraded": "Warning", "ok": "Good"}
# How the older connectors told of a failure, with status 200.
_FAILED: Final = "Webhook message delivery failed"


def request_for(target: Target, message: Message, now: datetime) -> Request:
    """Return the request; a card of parts stays far below the 28 KB that Teams takes."""
    title = {"size": "Medium", "weight": "Bolder", "color": COLOURS.get(message.state, "Default")}
    body = [_block(unmarked(message.title), **title)]
    for part in message.parts or (Part("", plain(message)),):
        body += _of(part)
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
    }
    if message.link:
        title_of_link = message.link_label or message.link
        card["actions"] = [{"type": "Action.OpenUrl", "title": title_of_link, "url": message.link}]
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return Request(target.address(), as_json({"type": "message", "attachments": [attachment]}), JSON)


def refusal(answer: object, text: str) -> tuple[Trouble, str] | None:
    """An older connector says its failure in a 200."""
    return (Trouble.SAID_NO, "") if text.startswith(_FAILED) else None


def _of(part: Part) -> list[dict[str, Any]]:
    blocks = []
    if part.label:
        blocks.append(_block(unmarked(part.label), weight="Bolder", spacing="Medium"))
    lines = [unmarked(part.text)] if part.text else []
    lines += [f"- {unmarked(item)}" for item in part.items]
    if lines:
        blocks.append(_block(cut("\n".join(lines), LINE), spacing="None"))
    return blocks


def _block(text: str, **style: str) -> dict[str, Any]:
    return {"type": "TextBlock", "text": text, "wrap": True, **style}
