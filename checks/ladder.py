"""The climb: rungs from the bottom up to the first broken one, under one deadline and one budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from checks.egress import keeping
from checks.egress.faults import chain_of
from checks.outcome import SUPPORTING_STEPS, Evidence, Failure, FailureKind, Outcome, Rung, Status, Step, Told
from checks.probes import PROBES, PROMISES, Ask, Found
from checks.probes.grounds import Grounds, OpenHost, by_ssh
from checks.reason import Reason
from checks.redact import Redactor
from checks.spec import LaneSpec, Where
from checks.telling import Teller, secrets_of

GRACE_SECONDS: Final = 2.0  # past its deadline a probe that does not stop by itself is stopped

# The step that stands for a rung nobody climbed.
_STAND_IN: Final = {
    Rung.NETWORK: "resolve",
    Rung.CHANNEL: "chat",
    Rung.SDK: "sdk",
    Rung.AGENT: "agent",
    Rung.ROLLOUT: "rollout",
}
_TIMED: Final = "chat"  # the step whose answer the lane's latency is
_ANSWERED: Final = (Status.OK, Status.DEGRADED, Status.DOWN)
_WORST_FIRST: Final = (Status.DOWN, Status.DEGRADED, Status.NOT_TESTABLE)


async def climb(
    spec: LaneSpec, heard: Callable[[Told], None] | None = None, open_host: OpenHost = by_ssh
) -> Outcome:
    """Climb the rungs that `spec` asks for and say what was found, with every secret masked.

    Stops at the first broken rung and marks the later ones as not reached. Never raises but on
    cancellation: a fault of our own is an outcome with the reason `engine_fault`. `heard` is told all steps
    so far after each rung, and what commands print, whole lines at a time, all of it masked.
    """
    begun, now = monotonic(), datetime.now(UTC)
    redactor = Redactor(secrets_of(spec))
    teller = Teller(spec.id, redactor, heard) if heard is not None else None
    grounds = Grounds(spec, open_host)
    passed_on = teller.pass_on if teller else None
    first = Ask(spec, begun + spec.deadline, now, spec.token_budget, passed_on, grounds)
    try:
        with keeping():
            steps, found = await _climbed(first, teller)
    finally:
        await grounds.close()
        if teller is not None:
            teller.flush()
    masked: Outcome = redactor.value(_outcome(spec, steps, now, (monotonic() - begun) * 1000, found))
    return masked


async def _climbed(ask: Ask, teller: Teller | None) -> tuple[list[Step], Found]:
    """All steps in order, and what the rungs have told besides."""
    steps: list[Step] = []
    found = Found(())
    for rung in sorted(set(ask.spec.rungs)):
        if _stops(steps):
            steps.append(Step(rung, _STAND_IN[rung], Status.NOT_REACHED))
            continue
        latest = await _ask(rung, ask)
        steps += _placed(_judged_by_latency(latest, ask.spec), ask.spec.place)
        ask = ask.after(sum(step.tokens for step in latest.steps))
        found = _learned(found, latest)
        if teller is not None:
            teller.tell_steps(steps)
    return steps, found


def _placed(steps: tuple[Step, ...], place: str) -> Iterator[Step]:
    """A step that names no place was asked from the worker."""
    return (step if step.place else replace(step, place=place) for step in steps)


def _learned(before: Found, latest: Found) -> Found:
    """What the rungs so far have told, without their steps."""
    return Found(
        (),
        latest.latency_ms or before.latency_ms,
        latest.token_parameter or before.token_parameter,
        latest.offered_base_url or before.offered_base_url,
    )


async def _ask(rung: Rung, ask: Ask) -> Found:
    probe = PROBES.get(rung)
    if probe is None:
        return Found((Step(rung, _STAND_IN[rung], Status.NOT_TESTABLE),))
    try:
        async with asyncio.timeout(ask.seconds() + GRACE_SECONDS):
            return await probe(ask)
    except Exception as exc:  # noqa: BLE001 - the contract: nothing raises out of a climb
        return Found((_own_fault(rung, exc),))


def _own_fault(rung: Rung, exc: Exception) -> Step:
    chain = chain_of(exc)
    failure = Failure(FailureKind.CLIENT, f"{chain[0][0]}: {chain[0][1]}", chain=chain)
    evidence = Evidence(method="", failure=failure)
    say = {"error": type(exc).__name__}
    return Step(rung, _STAND_IN[rung], Status.NOT_TESTABLE, Reason.ENGINE_FAULT, say=say, evidence=evidence)


def _deciding(steps: list[Step]) -> Iterator[Step]:
    return (step for step in steps if step.name not in SUPPORTING_STEPS)


def _stops(steps: list[Step]) -> bool:
    """A rung that broke, or could not be asked for a named reason, ends the climb."""
    return any(
        step.status is Status.DOWN or (step.status is Status.NOT_TESTABLE and step.reason is not None)
        for step in _deciding(steps)
    )


def _judged_by_latency(found: Found, spec: LaneSpec) -> tuple[Step, ...]:
    """A full answer that took longer than the lane allows is a degraded step."""
    limit_ms = spec.latency_limit_ms
    if limit_ms is None or found.latency_ms is None or found.latency_ms <= limit_ms:
        return found.steps
    late = {"latency_ms": str(round(found.latency_ms)), "limit_ms": str(limit_ms)}
    return tuple(_slow(step, late) if _is_timed(step, spec) else step for step in found.steps)


def _is_timed(step: Step, spec: LaneSpec) -> bool:
    """Of two places it is the worker's time that is kept, so that figures of all lanes compare."""
    return step.name == _TIMED and (spec.where is not Where.BOTH or step.place in ("", spec.place))


def _slow(step: Step, late: Mapping[str, str]) -> Step:
    if step.status is not Status.OK:
        return step
    return replace(step, status=Status.DEGRADED, reason=Reason.LATENCY_OVER_LIMIT, say={**step.say, **late})


def _outcome(spec: LaneSpec, steps: list[Step], now: datetime, duration_ms: float, found: Found) -> Outcome:
    decisive = _decisive(steps)
    passed = [step.rung for step in _deciding(steps) if step.status in (Status.OK, Status.DEGRADED)]
    broke = decisive is not None and decisive.status in (Status.DOWN, Status.NOT_TESTABLE)
    return Outcome(
        spec_id=spec.id,
        status=decisive.status if decisive else Status.OK if steps else Status.NOT_TESTABLE,
        rung=decisive.rung if decisive and broke else max(passed, default=Rung.NETWORK),
        reason=decisive.reason if decisive else None,
        steps=tuple(steps),
        started=now,
        duration_ms=duration_ms,
        tokens=sum(step.tokens for step in steps),
        latency_ms=found.latency_ms,
        candidates=decisive.candidates if decisive else (),
        token_parameter=found.token_parameter,
        offered_base_url=found.offered_base_url,
        contract=_contract(steps),
    )


def _contract(steps: list[Step]) -> Status | None:
    """The worst of the promises that got an answer; None when none did."""
    answered = {step.status for step in steps if step.name in PROMISES} - {
        Status.NOT_TESTABLE,
        Status.NOT_REACHED,
    }
    return next((status for status in (Status.DOWN, Status.DEGRADED, Status.OK) if status in answered), None)


def _decisive(steps: list[Step]) -> Step | None:
    """The first step of the worst status; None when all that could be asked passed. A rung that has nothing
    to ask for this lane says no reason, and decides only where nothing else was asked."""
    asked = [step for step in _deciding(steps) if step.reason is not None or step.status in _ANSWERED]
    for status in _WORST_FIRST:
        for step in asked or _deciding(steps):
            if step.status is status:
                return step
    return None
