"""Feishu's and Lark's group robot: a card, signed in its body; a refusal comes with status 200."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from panel.notices.message import Message, Request, Target, Trouble
from panel.notices.senders.text import COLOURS, JSON, as_json, cut, markdown

TITLE: Final = 200
BODY: Final = 16_000  # bytes; Feishu takes 20 KB in all
_TOO_OFTEN: Final = frozenset({11232, 99991400})


def request_for(target: Target, message: Message, now: datetime) -> Request:
    """Return the request; the robot signs with seconds, and they hold for an hour."""
    said: dict[str, Any] = {}
    if target.sign:
        stamp = int(now.timestamp())
        said = {"timestamp": str(stamp), "sign": signature(target.sign.reveal(), stamp)}
    head = {"tag": "plain_text", "content": cut(message.title, TITLE)}
    said |= {
        "msg_type": "interactive",
        "card": {
            "config": {"wide_screen_mode": True},
            "header": {"title": head, "template": COLOURS.get(message.state, "blue")},
            "elements": [{"tag": "markdown", "content": markdown(message, BODY, "")}],
        },
    }
    return Request(target.address(), as_json(said), JSON)


def signature(secret: str, stamp: int) -> str:
    """Return base64 of HMAC-SHA256 over nothing, with "timestamp, line break, secret" as key."""
    return base64.b64encode(hmac.new(f"{stamp}\n{secret}".encode(), b"", hashlib.sha256).digest()).decode()


def refusal(answer: object, text: str) -> tuple[Trouble, str] | None:
    """`code` (formerly `StatusCode`) is 0 for a message that was taken."""
    said = answer if isinstance(answer, Mapping) else {}
    code = said.get("code", said.get("StatusCode"))
    if not isinstance(code, int) or isinstance(code, bool):
        return Trouble.ODD_ANSWER, ""
    if code in _TOO_OFTEN:
        return Trouble.RATE_LIMITED, str(code)
    return (Trouble.SAID_NO, str(code)) if code else None
