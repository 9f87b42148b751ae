"""Rung 3 of a gateway: the clients are asked through a temporary rollout of it, as an agent's are."""

from __future__ import annotations

import shlex
from dataclasses import replace

from checks.gateway_urls import rollout_path
from checks.outcome import Evidence, Rung, Status, Step
from checks.probes.asking import Ask, Found, Probe, broken_step, status_of
from checks.probes.gateway.calls import upstream_evidence
from checks.probes.gateway.door import CALL_SECONDS, Door, objects_of
from checks.probes.gateway.rollouts import GatewayRollout, Purpose, RolloutRefused
from checks.probes.gateway.state import gateway_state
from checks.probes.gateway.triplets import failed_call
from checks.probes.places import from_places, where_of
from checks.spec import EndpointKind, LaneSpec, Masked, Where
from checks.verdict import classify


async def through_rollout(ask: Ask, clients: Probe) -> Found:
    """Make a temporary rollout, let `clients` ask at the address that an agent of it is given, remove it.

    The lane that `clients` is asked for has that address as base URL, and a bundle that names it too. What
    a model server behind the gateway refused is judged as that server's answer.
    """
    where = where_of(ask.spec)

    async def asked(there: Ask) -> Found:
        return await _asked(replace(there, spec=replace(there.spec, where=ask.spec.where)), clients)

    alone = replace(ask.spec, where=Where.HOST if where is Where.HOST else Where.WORKER)
    return await from_places(Rung.SDK, "sdk", asked)(replace(ask, spec=alone))


async def _asked(ask: Ask, clients: Probe) -> Found:
    door = Door(ask.spec)
    state = await gateway_state(ask, door, Rung.SDK)
    if state.status not in (Status.OK, Status.DEGRADED):
        return Found((replace(state, name="sdk"),))
    try:
        async with GatewayRollout(door, Purpose.SDK, seconds=ask.seconds(CALL_SECONDS)) as rollout:
            found = await clients(replace(ask, spec=_as_agent(ask.spec, rollout)))
            steps = [await _rejudged(ask, door, rollout, step) for step in found.steps]
    except RolloutRefused as refused:
        return Found((broken_step(Rung.SDK, "sdk", ask.spec, door.evidence(refused.got), {}),))
    return replace(found, steps=tuple(steps))


def _as_agent(spec: LaneSpec, rollout: GatewayRollout) -> LaneSpec:
    """The lane as the controller's agents see it: its variables beside those of the exported bundle."""
    key = spec.key.reveal() if spec.key else "none"  # the SDK wants one; a gateway without key ignores it
    variables = {
        "AGL_OPENAI_BASE_URL": rollout.base_url,
        "AGL_EVENT_URL": rollout.event_url,
        "AGL_KEY": key,
        "OPENAI_BASE_URL": rollout.base_url,
        "OPENAI_API_BASE": rollout.base_url,
        "OPENAI_API_KEY": key,
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    bundle = spec.bundle.reveal() if spec.bundle else ""
    return replace(
        spec,
        base_url=rollout.base_url,
        kind=EndpointKind.OPENAI,
        bundle=Masked("\n".join([bundle, *lines, ""])),
    )


async def _rejudged(ask: Ask, door: Door, rollout: GatewayRollout, step: Step) -> Step:
    """Tell the gateway's own refusals from those of the model server, which the client cannot tell apart."""
    if step.status is not Status.DOWN or step.evidence is None or step.evidence.status is None:
        return step
    got = await door.send("GET", f"{rollout_path(rollout.id)}/events", seconds=ask.seconds(CALL_SECONDS))
    refused = failed_call(objects_of(got))
    evidence, more = upstream_evidence(door, refused) if refused else (_own(step.evidence), {})
    verdict = classify(evidence)
    return replace(
        step,
        status=status_of(verdict.reason),
        reason=verdict.reason,
        candidates=verdict.candidates,
        say={**step.say, **more},
        evidence=evidence,
    )


def _own(evidence: Evidence) -> Evidence:
    return replace(evidence, context={**evidence.context, "through_gateway": True})
