"""After a dry run whose worker died: ends its processes on the host, takes its rollouts off the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import Any, Final

from checks.egress import carried_by
from checks.hosts import GroundLost
from checks.hosts.carrier import HostCarrier
from checks.outcome import Rung, Status, Step
from checks.probes.asking import lost_step
from checks.probes.gateway.door import Door
from checks.probes.gateway.rollouts import remove_all
from checks.probes.grounds import HOST_PREFIX, Grounds
from checks.reason import Reason
from checks.redact import Redactor
from checks.spec import EndpointKind, LaneSpec, Where
from checks.telling import secrets_of
from checks.verdict import classify

PROGRAM: Final = "tidy"
LOGIN_SECONDS: Final = 40.0
PROGRAM_SECONDS: Final = 30.0
HEALTH: Final = "/healthz"
SHOWN: Final = 600  # characters of a list of names


def clean_up(spec: LaneSpec) -> tuple[Step, ...]:
    """Remove what the run `spec.id` left; return a step for each place looked at, masked.

    OK says that nothing is left there (`say["count"]` is how much there was), DOWN that something would not
    go, NOT_TESTABLE with a reason that nobody could look. It may be repeated: what is gone stays gone. Not
    for use inside a running event loop.
    """
    steps: tuple[Step, ...] = Redactor(secrets_of(spec)).value(asyncio.run(_cleaned(spec)))
    return steps


async def _cleaned(spec: LaneSpec) -> tuple[Step, ...]:
    grounds = Grounds(spec)
    steps = []
    try:
        if spec.host is not None:
            steps.append(await _host(spec, grounds, HOST_PREFIX + spec.host.name))
        if spec.kind is EndpointKind.GATEWAY:
            steps.append(await _gateway(spec, grounds))
    finally:
        await grounds.close()
    return tuple(steps)


async def _host(spec: LaneSpec, grounds: Grounds, place: str) -> Step:
    begun = monotonic()
    try:
        ground = await grounds.host(LOGIN_SECONDS)
        told = await ground.run(PROGRAM, {"target": spec.id}, run=f"{spec.id}-tidy", seconds=PROGRAM_SECONDS)
    except GroundLost as lost:
        return lost_step(Rung.ROLLOUT, "tidied_host", lost, place)
    found, left = _processes(told, "found"), _processes(told, "left")
    shown = left or found
    return Step(
        Rung.ROLLOUT,
        "tidied_host",
        Status.DOWN if left else Status.OK,
        Reason.PROCESSES_LEFT if left else None,
        say={
            "count": str(len(found)),
            "left": str(len(left)),
            "processes": ", ".join(f"{name} ({pid})" for pid, name in shown.items())[:SHOWN],
        },
        duration_ms=(monotonic() - begun) * 1000,
        place=place,
    )


async def _gateway(spec: LaneSpec, grounds: Grounds) -> Step:
    """Remove the rollouts from where the run made them: a host's loopback is known there alone."""
    if spec.host is None or spec.where is Where.WORKER:
        return await _without_rollouts(spec, spec.place)
    place = HOST_PREFIX + spec.host.name
    try:
        ground = await grounds.host(LOGIN_SECONDS)
    except GroundLost as lost:
        return lost_step(Rung.ROLLOUT, "tidied_gateway", lost, place)
    carrier = HostCarrier(ground, spec.host, spec.recipe, f"{spec.id}-tidy")
    with carried_by(carrier):
        step = await _without_rollouts(spec, place)
    return lost_step(Rung.ROLLOUT, "tidied_gateway", carrier.lost, place) if carrier.lost else step


async def _without_rollouts(spec: LaneSpec, place: str) -> Step:
    begun = monotonic()
    door = Door(spec)
    alive = await door.send("GET", HEALTH, with_key=False)
    if alive.status is None:
        evidence = door.evidence(alive)
        reason = classify(evidence).reason
        return Step(
            Rung.ROLLOUT, "tidied_gateway", Status.NOT_TESTABLE, reason, evidence=evidence, place=place
        )
    gone = await remove_all(door)
    return Step(
        Rung.ROLLOUT,
        "tidied_gateway",
        Status.OK,
        say={"count": str(len(gone)), "rollouts": ", ".join(gone)[:SHOWN]},
        duration_ms=(monotonic() - begun) * 1000,
        place=place,
    )


def _processes(told: Any, name: str) -> dict[str, str]:
    """Read a hostile answer: process ids with the names of their programs."""
    part = told.get(name) if isinstance(told, Mapping) else None
    return {str(pid): str(program) for pid, program in part.items()} if isinstance(part, Mapping) else {}
