"""WeCom's group robot: its small Markdown, at most 4,096 bytes; a refusal comes with status 200."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from panel.notices.message import Message, Request, Target, Trouble
from panel.notices.senders.text import JSON, as_json, markdown, unmarked

BODY: Final = 4_096
COLOURS: Final = {"down": "warning", "degraded": "warning", "ok": "info"}
_TOO_OFTEN: Final = 45009


def request_for(target: Target, message: Message, now: datetime) -> Request:
    """Return the request."""
    colour = COLOURS.get(message.state, "comment")
    head = f'<font color="{colour}">**{unmarked(message.title)}**</font>'
    said = {"msgtype": "markdown", "markdown": {"content": markdown(message, BODY, head)}}
    return Request(target.address(), as_json(said), JSON)


def refusal(answer: object, text: str) -> tuple[Trouble, str] | None:
    """`errcode` is 0 for a message that was taken."""
    code = answer.get("errcode") if isinstance(answer, Mapping) else None
    if not isinstance(code, int) or isinstance(code, bool):
        return Trouble.ODD_ANSWER, ""
    if code == _TOO_OFTEN:
        return Trouble.RATE_LIMITED, str(code)
    return (Trouble.SAID_NO, str(code)) if code else None
