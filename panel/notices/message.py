"""What goes to a channel: the message in words, its target, the request that carries it, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from checks import Masked


@dataclass(frozen=True, slots=True)
class Part:
    """A labelled piece of a message: a sentence, a list, or both. `label` may be empty."""

    label: str
    text: str = ""
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One notice in the words of its channel's language; no key and no upstream text is in it.

    `code` is the notice's, the same however often it is sent. `state` is a state's code ("down", "ok") or
    empty. `link` is absolute, or empty where nobody said under which address people open the panel.
    `facts` is what machines read. `html`, `text` and `markdown`, where not empty, say the whole body in
    place of the parts: a report brings its own.
    """

    code: str
    kind: str
    title: str
    made_at: datetime
    language: str = "en"
    state: str = ""
    team: str = ""
    parts: tuple[Part, ...] = ()
    link: str = ""
    link_label: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    html: str = ""
    text: str = ""
    markdown: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A channel with its secrets: `secret` is an address or a token, `sign` what messages are signed with."""

    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    secret: Masked | None = None
    sign: Masked | None = None

    def setting(self, name: str) -> str:
        """Return one setting as text, empty where there is none."""
        return str(self.settings.get(name) or "")

    def address(self) -> str:
        """Return the secret in plain; empty where there is none."""
        return self.secret.reveal() if self.secret else ""


@dataclass(frozen=True, slots=True)
class Request:
    """What is posted. All of it may hold secrets, so its representation shows none of it."""

    url: str = field(repr=False)
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    method: str = "POST"


class Trouble(StrEnum):
    """Why a notice was not sent, or was not needed any more; `panel.notices.troubles` says each in words."""

    DENIED = "denied"
    NO_NAME = "no_name"
    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMEOUT = "timeout"
    REDIRECT = "redirect"
    REFUSED = "refused"
    RATE_LIMITED = "rate_limited"
    SERVER_FAULT = "server_fault"
    SAID_NO = "said_no"
    ODD_ANSWER = "odd_answer"
    UNCLEAR = "unclear"
    SEAL_BROKEN = "seal_broken"
    NO_MAIL = "no_mail"
    MAIL_REFUSED = "mail_refused"
    OFF = "off"
    # Of a notice that was dropped before anything was sent.
    OVER = "over"
    TAKEN = "taken"
    UNTOLD = "untold"
    BY_HAND = "by_hand"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one sending; no trouble means that the other side took it. `say` holds the facts that the
    trouble's sentence names (an address, a status, a code), never a text of the other side. `wait_s` is for
    how long the other side asked for quiet."""

    trouble: Trouble | None = None
    say: Mapping[str, str] = field(default_factory=dict)
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Sending:
    """A notice ready to go. `attempt` tells this sending from an earlier one of the same notice. `trouble`
    is set where it cannot be sent at all."""

    notice_id: int
    attempt: int
    message: Message
    target: Target
    trouble: Trouble | None = None
