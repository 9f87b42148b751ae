"""One request together with the place it reached: what families and faults look at to answer."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from checks.simulator.http import Answer, Request

KeyFact = Literal["none", "right", "wrong"]


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of server. `base` is the path of its base URL, `chat` the patterns of its chat routes."""

    base: str
    chat: tuple[str, ...]
    answer: Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Site:
    """What one running server is: its family, the key it wants (None: any), the models it serves.

    `memory` is what it keeps between requests, its counters among them.
    """

    family: Family
    key: str | None
    models: tuple[str, ...]
    memory: dict[str, Any] = field(default_factory=dict, repr=False)
    max_model_len: int = 32_768


@dataclass(frozen=True, slots=True)
class Call:
    """A request at a site."""

    request: Request
    site: Site

    @property
    def key(self) -> KeyFact:
        """Whether a credential came, in whichever header, and whether it is the site's own."""
        sent = credential(self.request)
        if not sent:
            return "none"
        known = self.site.key is None or hmac.compare_digest(sent.encode(), self.site.key.encode())
        return "right" if known else "wrong"

    @property
    def admitted(self) -> bool:
        """True when the site asks for no key or has been shown its own."""
        return self.site.key is None or self.key == "right"

    @property
    def is_chat(self) -> bool:
        """True for a POST to a chat route that this family really has."""
        patterns = self.site.family.chat
        return self.request.method == "POST" and any(fnmatchcase(self.request.path, one) for one in patterns)

    @property
    def asked(self) -> dict[str, Any]:
        """The JSON object that was sent, empty when the body was none."""
        document = self.request.document
        return document if isinstance(document, dict) else {}

    @property
    def model(self) -> str:
        """The model id in the body, or an empty string."""
        return str(self.asked.get("model") or "")

    def count(self, name: str) -> int:
        """How often this was counted at this site, this time included."""
        self.site.memory[name] = self.site.memory.get(name, 0) + 1
        return int(self.site.memory[name])


def credential(request: Request) -> str:
    """The key in `Authorization: Bearer`, `api-key` or `x-api-key`; empty when there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return request.headers.get("api-key") or request.headers.get("x-api-key") or ""
