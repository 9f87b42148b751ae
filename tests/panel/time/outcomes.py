"""Outcomes as the engine would give them, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from checks import Evidence, Outcome, Reason, Rung, Status, Step, Timings
from panel import ledger
from panel.models import Check, LaneState, Run
from tests import make

RESOLVED = Step(Rung.NETWORK, "resolve", Status.OK, say={"address": "192.0.2.7"}, duration_ms=2.0)
ANSWER = Evidence(
    url="https://relay.example/v1/chat/completions",
    status=200,
    headers={"content-type": "application/json"},
    body='{"choices": []}',
    peer="192.0.2.7:443",
    timings=Timings(dns_ms=2.0, connect_ms=3.0, tls_ms=5.0, wait_ms=80.0, transfer_ms=1.0),
)


def passed(
    run: Run, at: datetime, *, latency_ms: float = 90.0, tokens: int = 12, slow: bool = False
) -> Outcome:
    """A pass of both rungs; `slow` makes it degraded."""
    status = Status.DEGRADED if slow else Status.OK
    reason = Reason.LATENCY_OVER_LIMIT if slow else None
    chat = Step(Rung.CHANNEL, "chat", status, reason, evidence=ANSWER, duration_ms=latency_ms, tokens=tokens)
    return Outcome(
        run.code, status, Rung.CHANNEL, reason, (RESOLVED, chat), at, latency_ms, tokens, latency_ms,
        token_parameter="max_completion_tokens",
    )  # fmt: skip


def failed(run: Run, at: datetime, reason: Reason = Reason.AUTH_INVALID_KEY) -> Outcome:
    """A failure on the channel rung."""
    evidence = Evidence(url=ANSWER.url, status=401, body="x" * 10_000, headers={"server": "relay"})
    chat = Step(
        Rung.CHANNEL, "chat", Status.DOWN, reason, (reason, Reason.AUTH_KEY_MALFORMED), evidence=evidence
    )
    return Outcome(run.code, Status.DOWN, Rung.CHANNEL, reason, (RESOLVED, chat), at, 40.0)


def untestable(run: Run, at: datetime) -> Outcome:
    """A lane that could not be asked."""
    step = Step(Rung.CHANNEL, "brief", Status.NOT_TESTABLE, Reason.KEY_MISSING)
    return Outcome(run.code, Status.NOT_TESTABLE, Rung.CHANNEL, Reason.KEY_MISSING, (step,), at, 0.0)


MAKERS = {"o": passed, "d": failed, "n": untestable, "g": lambda run, at: passed(run, at, slow=True)}


def live(
    check: Check, letters: str, *, start: datetime = make.NOON, every: timedelta = timedelta(minutes=1)
) -> list[Run]:
    """Run the check once a letter (o ok, g degraded, d down, n not testable); return the closed runs."""
    runs = []
    for number, letter in enumerate(letters):
        at = start + every * number
        (run,) = started([make.run(check, at)], at)
        runs += ledger.close_many([(run, MAKERS[letter](run, at))], at + timedelta(seconds=1))
    return runs


def started(runs: Sequence[Run], at: datetime) -> list[Run]:
    """Start queued runs."""
    return ledger.start([run.pk for run in runs], at)


def state_of(check: Check) -> LaneState:
    """The lane's state as it is stored now."""
    return LaneState.objects.get(lane=check.lane_id)
