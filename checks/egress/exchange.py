"""One request and what came of it: an answer or a failure, with all that was measured on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Protocol

from checks.egress.dial import dial, look_at_certificate
from checks.egress.faults import EgressError, translated
from checks.egress.keeping import keep_or_drop, kept_or_dialled
from checks.egress.progress import Progress
from checks.egress.target import parse_url, target_of
from checks.egress.wire import Conversation, Request, decoded, request_of
from checks.outcome import Certificate, Failure, FailureKind, Phase, Timings
from checks.spec import EgressPolicy

LOOK_SECONDS: Final = 5.0
LEAST_SECONDS: Final = 0.001
FIXED_HEADERS: Final = {"user-agent": "preflight", "accept-encoding": "gzip, deflate", "connection": "close"}


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one request led to. `status` is None when no head of an answer arrived; an answer that broke
    off has status, part of its body and a failure. `body` is unpacked and capped; where the answer was
    not HTTP it holds the first bytes. `context` holds what was learned of the place it was asked from.
    Nothing here is masked, so its repr shows neither body nor headers.
    """

    method: str
    url: str
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    failure: Failure | None = field(default=None, repr=False)
    addresses: tuple[str, ...] = ()
    peer: str = ""
    certificate: Certificate | None = None
    timings: Timings = field(default_factory=Timings)
    context: Mapping[str, object] = field(default_factory=dict, repr=False)

    def header(self, name: str) -> str:
        """Return the values of the lower-case `name`, joined by commas; empty when there is none."""
        return ", ".join(value for key, value in self.headers if key == name)


class Carrier(Protocol):
    """Asks from another machine in place of this one."""

    async def carry(
        self,
        method: str,
        url: str,
        *,
        deadline: float,
        headers: Mapping[str, str],
        content: bytes,
        ca_file: str | None,
    ) -> Exchange:
        """Send one request from there, or without a method only connect; never raises but on
        cancellation."""


_CARRIER: ContextVar[Carrier | None] = ContextVar("carrier", default=None)


@contextmanager
def carried_by(carrier: Carrier) -> Iterator[None]:
    """Let every exchange of this task, and of tasks that it starts, be made from the carrier's machine: each
    probe then asks from there, and knows nothing of it."""
    before = _CARRIER.set(carrier)
    try:
        yield
    finally:
        _CARRIER.reset(before)


async def exchange(
    method: str,
    url: str,
    *,
    policy: EgressPolicy,
    deadline: float,
    headers: Mapping[str, str] | None = None,
    content: bytes = b"",
    ca_file: str | None = None,
) -> Exchange:
    """Send one request over a new connection (or one that `keeping` kept, which carried nothing yet) and
    return what came of it; never raises but on cancellation. `deadline` is in seconds and covers everything.
    No redirect is followed, no proxy used. Under `carried_by` the carrier's machine asks, and its own rules
    say which addresses and proxies.
    """
    sent = {**(headers or {}), **FIXED_HEADERS}
    if (carrier := _CARRIER.get()) is not None:
        return await carrier.carry(
            method, url, deadline=deadline, headers=sent, content=content, ca_file=ca_file
        )
    progress = Progress()
    ends = monotonic() + deadline
    try:
        with translated(lambda: progress.phase):
            request = request_of(method, parse_url(url), sent, content)
            body = await converse(request, progress, policy, deadline, ca_file)
    except EgressError as error:
        return await _failed(method, url, progress, error.failure, ends)
    return _concluded(method, url, progress, body, None)


async def reach(url: str, *, policy: EgressPolicy, deadline: float, ca_file: str | None = None) -> Exchange:
    """Resolve, connect and, for https, shake hands with the server of `url`, then hang up (under `keeping`:
    keep the connection); never raises but on cancellation. Under `carried_by` the carrier's machine does."""
    if (carrier := _CARRIER.get()) is not None:
        return await carrier.carry("", url, deadline=deadline, headers={}, content=b"", ca_file=ca_file)
    progress = Progress()
    ends = monotonic() + deadline
    try:
        with translated(lambda: progress.phase):
            target = progress.target = target_of(parse_url(url), ca_file)
            async with asyncio.timeout(deadline):
                keep_or_drop(await dial(target, policy, progress), progress)
    except EgressError as error:
        return await _failed("", url, progress, error.failure, ends)
    return _concluded("", url, progress, b"", None)


async def converse(
    request: Request, progress: Progress, policy: EgressPolicy, deadline: float, ca_file: str | None
) -> bytes:
    """Send `request`, fill `progress` and return the unpacked body. Raises what sockets, TLS and h11
    raise, untranslated."""
    conversation = Conversation(request)
    target = progress.target = target_of(request.url, ca_file)
    async with asyncio.timeout(deadline):
        line = await kept_or_dialled(target, policy, progress)
        try:
            await conversation.run(line, progress)
        finally:
            line.drop()
    return decoded(progress)


async def _failed(method: str, url: str, progress: Progress, failure: Failure, ends: float) -> Exchange:
    """After a failed verification read what the server showed: its dates, names and issuer explain it."""
    if (failure.kind, failure.phase) == (FailureKind.TLS, Phase.TLS) and progress.target and progress.address:
        seconds = max(LEAST_SECONDS, min(LOOK_SECONDS, ends - monotonic()))
        progress.certificate = await look_at_certificate(progress.target, progress.address, seconds)
    body = bytes(progress.body) if progress.status is not None else progress.first_bytes
    return _concluded(method, url, progress, body, failure)


def _concluded(method: str, url: str, progress: Progress, body: bytes, failure: Failure | None) -> Exchange:
    return Exchange(
        method=method,
        url=url,
        status=progress.status,
        headers=progress.headers,
        body=body,
        failure=failure,
        addresses=progress.addresses,
        peer=progress.peer,
        certificate=progress.certificate,
        timings=progress.timings,
    )
