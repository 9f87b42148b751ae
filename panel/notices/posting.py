"""Sends messages through the egress client: judged addresses, no redirect followed, all capped and timed.

A result is one of three: taken, surely not taken, or unclear (the request left, and no answer came).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from django.conf import settings

from checks import EgressPolicy
from checks.egress import Exchange, exchange
from checks.outcome import Failure, FailureKind, Phase
from panel.notices.message import Request, Result, Sending, Trouble
from panel.notices.senders import SENDERS, Sender, mail

SECONDS: Final = 15.0
AT_ONCE: Final = 8
LONGEST_WAIT: Final = 3_600.0
TEXT: Final = 4_096
_GATEWAY_TIMEOUT: Final = 504
_BEFORE_SENDING: Final = frozenset({Phase.BUILD, Phase.DNS, Phase.CONNECT, Phase.TLS})
_NOT_REACHED: Final[dict[FailureKind, Trouble]] = {
    FailureKind.DENIED: Trouble.DENIED,
    FailureKind.DNS: Trouble.NO_NAME,
    FailureKind.TLS: Trouble.TLS,
    FailureKind.TIMEOUT: Trouble.TIMEOUT,
}


def deliver(sendings: Sequence[Sending]) -> Iterator[tuple[Sending, Result]]:
    """Send all, at most eight at once, and yield each with what came of it, as soon as it is known."""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="notices") as room:
        ways = {room.submit(send, sending): sending for sending in sendings}
        for way in as_completed(ways):
            yield ways[way], way.result()


def send(sending: Sending) -> Result:
    """Send one notice and wait for what comes of it."""
    if sending.trouble is not None:
        return Result(sending.trouble)
    if sending.target.kind == "mail":
        return mail.send(sending.target, sending.message)
    sender = SENDERS[sending.target.kind]
    request = sender.request_for(sending.target, sending.message, datetime.now(UTC))
    policy = EgressPolicy(allowed=settings.EGRESS_ALLOWED)
    return asyncio.run(post(request, sender, policy=policy, deadline=SECONDS))


async def post(request: Request, sender: Sender, *, policy: EgressPolicy, deadline: float) -> Result:
    """Post one request and judge the answer; never raises but on cancellation."""
    got = await exchange(
        request.method,
        request.url,
        policy=policy,
        deadline=deadline,
        headers=request.headers,
        content=request.body,
    )
    return judged(got, sender)


def judged(got: Exchange, sender: Sender) -> Result:
    """Return what an exchange means for the notice."""
    if got.status is None:
        return _unanswered(got, got.failure)
    say = {"status": str(got.status)}
    wait = _asked_to_wait(got)
    if got.status == _GATEWAY_TIMEOUT:
        return Result(Trouble.UNCLEAR, say)
    if got.status == 429 or (got.status == 503 and wait):
        return Result(Trouble.RATE_LIMITED, say, wait)
    if got.status >= 500:
        return Result(Trouble.SERVER_FAULT, say)
    if got.status >= 300:
        return Result(Trouble.REDIRECT if got.status < 400 else Trouble.REFUSED, say)
    return _of_success(got, sender)


def _unanswered(got: Exchange, failure: Failure | None) -> Result:
    """No head of an answer: what died before the request was written was surely not taken."""
    if failure is None or failure.phase not in _BEFORE_SENDING:
        if failure is not None and failure.kind is FailureKind.DENIED:
            return Result(Trouble.DENIED, {"address": _first(got)})
        return Result(Trouble.UNCLEAR)
    return Result(_NOT_REACHED.get(failure.kind, Trouble.UNREACHABLE), {"address": _first(got)})


def _first(got: Exchange) -> str:
    return got.addresses[0] if got.addresses else ""


def _of_success(got: Exchange, sender: Sender) -> Result:
    text = got.body[:TEXT].decode("utf-8", "replace")
    try:
        answer: object = json.loads(got.body)
    except (ValueError, RecursionError):
        answer = None
    refused = sender.refusal(answer, text)
    if refused is None:
        return Result()
    trouble, code = refused
    if got.failure is not None and trouble is Trouble.ODD_ANSWER:
        return Result(Trouble.UNCLEAR)  # the answer broke off before it said yes or no
    return Result(trouble, {"code": code} if code else {}, _asked_to_wait(got))


def _asked_to_wait(got: Exchange) -> float:
    """For how many seconds the other side asked for quiet: by header, or in the body as Telegram does."""
    said = got.header("retry-after").strip()
    if said.isdecimal():
        return min(float(said[:9]), LONGEST_WAIT)
    try:
        if said:
            return min(
                max((parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds(), 0), LONGEST_WAIT
            )
        asked = json.loads(got.body)["parameters"]["retry_after"]
        return min(max(float(asked), 0.0), LONGEST_WAIT)
    except (ValueError, TypeError, KeyError, RecursionError):
        return 0.0
