"""DingTalk's group robot: Markdown, signed in the address; a refusal comes with status 200."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from urllib.parse import quote_plus

from panel.notices.message import Message, Request, Target, Trouble
from panel.notices.senders.text import JSON, as_json, cut, markdown, unmarked

TITLE: Final = 100
BODY: Final = 18_000  # bytes; DingTalk takes 20,000 in all
# More than 20 messages a minute: the robot is silenced for a while.
_TOO_OFTEN: Final = frozenset({130101, 410100, 660026})


def request_for(target: Target, message: Message, now: datetime) -> Request:
    """Return the request; the robot signs with milliseconds, and they hold for an hour."""
    url = target.address()
    if target.sign:
        stamp = int(now.timestamp() * 1000)
        url += "&" if "?" in url else "?"
        url += f"timestamp={stamp}&sign={quote_plus(signature(target.sign.reveal(), stamp))}"
    text = markdown(message, BODY, f"### {unmarked(message.title)}")
    said = {"msgtype": "markdown", "markdown": {"title": cut(message.title, TITLE), "text": text}}
    return Request(url, as_json(said), JSON)


def signature(secret: str, stamp: int) -> str:
    """Return base64 of HMAC-SHA256 over "timestamp, line break, secret" with the secret as key."""
    digest = hmac.new(secret.encode(), f"{stamp}\n{secret}".encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def refusal(answer: object, text: str) -> tuple[Trouble, str] | None:
    """`errcode` is 0 for a message that was taken; WeCom answers alike."""
    code = answer.get("errcode") if isinstance(answer, Mapping) else None
    if not isinstance(code, int) or isinstance(code, bool):
        return Trouble.ODD_ANSWER, ""
    if code in _TOO_OFTEN:
        return Trouble.RATE_LIMITED, str(code)
    return (Trouble.SAID_NO, str(code)) if code else None
