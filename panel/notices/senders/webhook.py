"""The signed webhook: JSON of our own, for whatever a team has built.

Preflight-Timestamp: seconds of the epoch
Preflight-Signature: v1=<hex of HMAC-SHA256(secret, timestamp + "." + body)>
Idempotency-Key: the notice's code, the same each time that the notice is sent
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime

from panel.notices.message import Message, Request, Target, Trouble
from panel.notices.senders.text import JSON, as_json, plain


def request_for(target: Target, message: Message, now: datetime) -> Request:
    """Return the request; its body is the same each time, its timestamp and signature are not."""
    body = as_json(
        {
            "version": 1,
            "id": message.code,
            "kind": message.kind,
            "at": message.made_at.isoformat(),
            "team": message.team,
            "state": message.state,
            "title": message.title,
            "text": plain(message),
            "link": message.link,
            "facts": dict(message.facts),
        }
    )
    headers = JSON | {"idempotency-key": message.code, "preflight-timestamp": str(int(now.timestamp()))}
    if target.sign:
        headers["preflight-signature"] = f"v1={signature(target.sign.reveal(), int(now.timestamp()), body)}"
    return Request(target.address(), body, headers)


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """Return what proves that this body was sent at this second by who has the secret."""
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def refusal(answer: object, text: str) -> tuple[Trouble, str] | None:
    """Any 2xx will do."""
    return None
