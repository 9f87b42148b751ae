"""A sender for each kind of channel that is posted to: what it posts, and how a refusal looks in a 200."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Protocol

from panel.notices.message import Message, Request, Target, Trouble
from panel.notices.senders import dingtalk, feishu, ntfy, slack, teams, telegram, webhook, wecom


class Sender(Protocol):
    """What each module of this package gives."""

    def request_for(self, target: Target, message: Message, now: datetime) -> Request:
        """Return what is posted; pure but for `now`, which signatures are made with."""

    def refusal(self, answer: object, text: str) -> tuple[Trouble, str] | None:
        """Judge the body of a 2xx, parsed (None where it is no JSON) and as text: None where the message was
        taken, else the trouble and the other side's code."""


SENDERS: Final[dict[str, Sender]] = {
    "webhook": webhook,
    "slack": slack,
    "teams": teams,
    "dingtalk": dingtalk,
    "feishu": feishu,
    "lark": feishu,
    "wecom": wecom,
    "telegram": telegram,
    "ntfy": ntfy,
}
# What the other side tells apart by our code, so that a second sending of the same notice does no harm.
IDEMPOTENT: Final = frozenset({"webhook", "mail"})
# The least seconds between two messages to one channel: what these robots take before they go silent.
PACE_S: Final = {
    "dingtalk": 3.5,
    "wecom": 3.5,
    "feishu": 1,
    "lark": 1,
    "slack": 1,
    "telegram": 3.5,
    "teams": 1,
}
