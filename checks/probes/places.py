"""From where a rung is climbed: the worker, the host, or both side by side, the host deciding.

The probes themselves know nothing of places: on the host's behalf every exchange is carried over there.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import wraps
from typing import Final

from checks.addresses import host_of
from checks.egress import carried_by
from checks.hostnames import is_loopback
from checks.hosts import GroundLost
from checks.hosts.carrier import HostCarrier
from checks.outcome import Rung, Status, Step
from checks.probes.asking import Ask, Found, Probe, lost_step
from checks.probes.chat import ANSWER_TOKENS
from checks.reason import Reason
from checks.spec import HostSpec, LaneSpec, Where

HOST_STEP: Final = "host"  # says beside the worker's steps why the host could not be asked


def from_places(rung: Rung, first_step: str, probe: Probe) -> Probe:
    """Return `probe` asked from the places that the lane names; `first_step` stands for all its steps
    where it could not be asked."""

    @wraps(probe)
    async def ask_there(ask: Ask) -> Found:
        where = where_of(ask.spec)
        if where is None:
            say = {"host": ask.spec.host.name if ask.spec.host else ""}
            return Found((Step(rung, first_step, Status.NOT_TESTABLE, Reason.LANE_LIVES_ON_HOST, say=say),))
        if where is Where.WORKER:
            return await probe(ask)
        if where is Where.HOST:
            return _or_lost(await _from_host(ask, probe), ask, rung, first_step)
        return await _from_both(ask, rung, probe)

    return ask_there


def where_of(spec: LaneSpec) -> Where | None:
    """From where the lane is asked; None where only the host could ask, and only the worker may.

    An address of the host's loopback means another machine to the worker, unless both are one.
    """
    if spec.host is None:
        return Where.WORKER
    if not is_loopback(host_of(spec.base_url)) or _is_here(spec.host):
        return spec.where
    return None if spec.where is Where.WORKER else Where.HOST


def _is_here(host: HostSpec) -> bool:
    return host.jump is None and is_loopback(host.address)


async def _from_host(ask: Ask, probe: Probe) -> Found | GroundLost:
    """Ask from the host; GroundLost where it could not be asked, or not to the end."""
    if ask.spec.host is None:
        raise ValueError("A lane without a host is not asked from one.")
    try:
        ground = await ask.host()
    except GroundLost as lost:
        return lost
    carrier = HostCarrier(ground, ask.spec.host, ask.spec.recipe, ask.spec.id)
    with carried_by(carrier):
        found = await probe(ask)
    return carrier.lost or _at(found, ask.host_place)


def _or_lost(there: Found | GroundLost, ask: Ask, rung: Rung, name: str) -> Found:
    return there if isinstance(there, Found) else Found((lost_step(rung, name, there, ask.host_place),))


async def _from_both(ask: Ask, rung: Rung, probe: Probe) -> Found:
    """Ask from both at once; the costly promises from the host alone."""
    if ask.spec.place in _given_up(ask):
        return _or_lost(await _from_host(ask, probe), ask, rung, HOST_STEP)
    plain = replace(ask.spec, contract=False, negative=False, repeat=False)
    beside = replace(ask.after(ANSWER_TOKENS), spec=plain)
    here, there = await asyncio.gather(probe(beside), _from_host(ask, probe))
    here = _at(here, ask.spec.place)
    if not isinstance(there, Found):
        return replace(here, steps=(*_or_lost(there, ask, rung, HOST_STEP).steps, *here.steps))
    if any(step.status is Status.DOWN for step in here.steps):
        _given_up(ask).add(ask.spec.place)
    return _merged(there, here)


def _given_up(ask: Ask) -> set[str]:
    return ask.grounds.given_up if ask.grounds is not None else set()


def _at(found: Found, place: str) -> Found:
    return replace(found, steps=tuple(replace(step, place=step.place or place) for step in found.steps))


def _merged(there: Found, here: Found) -> Found:
    """Training runs on the host, so its steps decide; what is broken at the worker alone degrades."""
    beside = here.steps if _is_broken(there) else tuple(_softened(step) for step in here.steps)
    return Found(
        there.steps + beside,
        here.latency_ms or there.latency_ms,
        there.token_parameter or here.token_parameter,
        there.offered_base_url or here.offered_base_url,
    )


def _is_broken(found: Found) -> bool:
    return any(step.status is Status.DOWN for step in found.steps)


def _softened(step: Step) -> Step:
    """A worker that may not or cannot ask says so, and ends nothing."""
    if step.status is Status.DOWN:
        return replace(step, status=Status.DEGRADED)
    if step.status is Status.NOT_TESTABLE and step.reason is not None:
        return replace(step, reason=None, say={**step.say, "why": str(step.reason)})
    return step
