"""The one map from foreign exceptions to failures: whatever a library raises, a probe sees a `Failure`."""

from __future__ import annotations

import errno
import re
import socket
import ssl
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import h11
import httpx

from checks.outcome import Failure, FailureKind, Phase

MAX_CHAIN: Final = 6
MAX_TEXT: Final = 400
_HEADER_FIELDS_TOO_LARGE: Final = 431  # how h11 says that a head passed the cap we gave it

_QUOTATION: Final = re.compile(r"\s*b?[\"']")
_OUR_OWN_LIMITS: Final = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EADDRNOTAVAIL}
)


class EgressError(Exception):
    """An exchange died; `failure` says of what. The only exception that leaves this package, besides
    cancellation."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Refused(Exception):
    """Our own refusal, on its way to a `Failure` of this kind; the text is safe to show."""

    def __init__(self, kind: FailureKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


KINDS: Final[dict[type[Exception], FailureKind]] = {
    socket.gaierror: FailureKind.DNS,
    socket.herror: FailureKind.DNS,
    ConnectionRefusedError: FailureKind.REFUSED,
    TimeoutError: FailureKind.TIMEOUT,
    ssl.SSLError: FailureKind.TLS,
    ConnectionError: FailureKind.RESET,
    EOFError: FailureKind.RESET,
    h11.ProtocolError: FailureKind.PROTOCOL,
    zlib.error: FailureKind.PROTOCOL,
    UnicodeError: FailureKind.PROTOCOL,
    httpx.InvalidURL: FailureKind.PROTOCOL,
    httpx.CookieConflict: FailureKind.PROTOCOL,
    httpx.TimeoutException: FailureKind.TIMEOUT,
    httpx.ProxyError: FailureKind.PROXY,
    httpx.HTTPError: FailureKind.PROTOCOL,
    httpx.StreamError: FailureKind.PROTOCOL,
}


def kind_of(exc: BaseException, phase: Phase | None) -> FailureKind | None:
    """Return the kind of failure that `exc` means in `phase`; None for a class nobody mapped."""
    if isinstance(exc, Refused):
        return exc.kind
    if isinstance(exc, h11.RemoteProtocolError) and exc.error_status_hint == _HEADER_FIELDS_TOO_LARGE:
        return FailureKind.TOO_LARGE
    if phase is Phase.DNS and isinstance(exc, UnicodeError):
        return FailureKind.DNS  # a label too long or empty: no such name can exist
    named = next((KINDS[cls] for cls in type(exc).__mro__ if cls in KINDS), None)
    if named is None and isinstance(exc, OSError):
        return _kind_of_system_error(exc, phase)
    if named is None and isinstance(exc, (ValueError, OverflowError)):
        return FailureKind.PROTOCOL
    return named


@contextmanager
def translated(phase: Callable[[], Phase]) -> Iterator[None]:
    """Turn each foreign exception into an `EgressError`; `phase` tells what was under way."""
    try:
        yield
    except EgressError:
        raise
    except Exception as exc:
        failure = failure_of(exc, phase())
        if failure is None:
            raise
        raise EgressError(failure) from exc


def failure_of(exc: BaseException, phase: Phase | None) -> Failure | None:
    """Return `exc` as a failure, or None for a class nobody mapped (a bug of ours)."""
    kind = kind_of(exc, phase)
    if kind is None:
        return None
    number = exc.errno if isinstance(exc, OSError) else None
    text = _text(exc) or (
        f"timed out in phase {phase}" if kind is FailureKind.TIMEOUT else type(exc).__name__
    )
    return Failure(kind, text, phase, number, chain_of(exc))


def chain_of(exc: BaseException) -> tuple[tuple[str, str], ...]:
    """Return class and text of `exc` and of what caused it, outermost first."""
    chain: list[tuple[str, str]] = []
    link: BaseException | None = exc
    while link is not None and len(chain) < MAX_CHAIN:
        chain.append((f"{type(link).__module__}.{type(link).__qualname__}", _text(link)))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return tuple(chain)


def _text(exc: BaseException) -> str:
    """What `exc` says; h11 and the codecs quote what we were about to send, and that may be the key."""
    if isinstance(exc, UnicodeEncodeError):
        return f"{exc.encoding!r} codec can't encode the character at position {exc.start}: {exc.reason}"
    text = str(exc)
    if isinstance(exc, (h11.LocalProtocolError, UnicodeError)):
        text = _QUOTATION.split(text, maxsplit=1)[0]
    return text[:MAX_TEXT]


def _kind_of_system_error(exc: OSError, phase: Phase | None) -> FailureKind:
    """Errors without a class of their own, such as "no route to host"."""
    if phase is Phase.BUILD or exc.errno in _OUR_OWN_LIMITS:
        return FailureKind.CLIENT
    return FailureKind.REFUSED if phase is Phase.CONNECT else FailureKind.RESET
