"""Where a URL leads, parsed once: everything after uses these parts and never the text again."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import httpx

from checks.egress.faults import Refused
from checks.egress.trust import trusting
from checks.outcome import FailureKind

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Target:
    """The server of a URL; `context` is None for plain HTTP."""

    host: str
    port: int
    context: ssl.SSLContext | None


@lru_cache(maxsize=8192)
def parse_url(text: str) -> httpx.URL:
    """Return `text` as a URL; kept, because a lane is asked at the same address for months. Raises
    httpx.InvalidURL."""
    return httpx.URL(text)


def target_of(url: httpx.URL, ca_file: str | None) -> Target:
    """Return where `url` leads. Raises Refused for what is not http or https, or carries user-info, and
    OSError for an unusable `ca_file`."""
    if url.scheme not in _PORTS or not url.host:
        raise Refused(FailureKind.PROTOCOL, "The URL is missing an 'http://' or 'https://' protocol.")
    if url.userinfo:
        raise Refused(FailureKind.PROTOCOL, "Invalid URL: it carries a user name or password.")
    port = url.port if url.port is not None else _PORTS[url.scheme]
    if not 1 <= port <= 65_535:
        raise Refused(FailureKind.PROTOCOL, f"Invalid URL: there is no port {port}.")
    context = trusting(ca_file) if url.scheme == "https" else None
    return Target(url.raw_host.decode("ascii"), port, context)
