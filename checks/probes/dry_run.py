"""Rung 5: a dry run that samples trajectories and updates no weight, as far as the lane's recipe goes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Final

from checks.outcome import SUPPORTING_STEPS, Rung, Status, Step
from checks.probes.asking import Ask, Found
from checks.probes.command import command
from checks.probes.gateway import controller_run, gateway_dry_run
from checks.probes.legacy import legacy_run
from checks.probes.samples import samples
from checks.spec import EndpointKind, LaneKind, LaneSpec

Part = Callable[[Ask], Awaitable[tuple[Step, ...]]]

NOTHING_TO_RUN: Final = Found((Step(Rung.ROLLOUT, "rollout", Status.NOT_TESTABLE),))


async def dry_run(ask: Ask) -> Found:
    """Run each part that fits the lane, one after the other, up to the first that breaks.

    Through the gateway where the lane is one, then with the team's agent class under a controller; else by
    samples from the rollout endpoint and, for 0.x, its own Trainer on the host; last the team's own command.
    A lane that has none of these is not testable on this rung, without a reason.
    """
    steps: list[Step] = []
    for part in _parts(ask.spec):
        steps += await part(ask.after(sum(step.tokens for step in steps)))
        if any(_ends(step) for step in steps):
            break
    return Found(tuple(steps)) if steps else NOTHING_TO_RUN


def _parts(spec: LaneSpec) -> Iterator[Part]:
    if spec.kind is EndpointKind.GATEWAY:
        yield gateway_dry_run
        if spec.host is not None and spec.recipe is not None and spec.recipe.agent:
            yield controller_run
    elif spec.lane is LaneKind.ROLLOUT:
        yield samples
        if spec.host is not None and spec.recipe is not None and spec.recipe.generation == "0.x":
            yield legacy_run
    if spec.host is not None and spec.recipe is not None and spec.recipe.command:
        yield command


def _ends(step: Step) -> bool:
    if step.name in SUPPORTING_STEPS:
        return False
    return step.status is Status.DOWN or (step.status is Status.NOT_TESTABLE and step.reason is not None)
