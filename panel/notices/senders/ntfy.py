"""ntfy: published as JSON to the server's root, at most 4,096 bytes, with a token where needed."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from panel.notices.message import Message, Request, Target, Trouble
from panel.notices.senders.text import JSON, as_json, cut, cut_bytes, plain

BODY: Final = 3_900
TITLE: Final = 200
PRIORITIES: Final = {"down": 5, "degraded": 4, "ok": 3}
TAGS: Final = {"down": "red_circle", "degraded": "warning", "ok": "white_check_mark"}


def request_for(target: Target, message: Message, now: datetime) -> Request:
    """Return the request."""
    said: dict[str, Any] = {
        "topic": target.setting("topic"),
        "title": cut(message.title, TITLE),
        "message": cut_bytes(plain(message), BODY),
        "priority": PRIORITIES.get(message.state, 3),
        "tags": [TAGS[message.state]] if message.state in TAGS else [],
    }
    if message.link:
        said["click"] = message.link
    headers = JSON | ({"authorization": f"Bearer {target.address()}"} if target.secret else {})
    return Request(target.setting("server"), as_json(said), headers)


def refusal(answer: object, text: str) -> tuple[Trouble, str] | None:
    """ntfy says no by its status."""
    return None
