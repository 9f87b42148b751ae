"""The dry run through a gateway: one training and one validation call, a reward, and the triplets of both.

No controller and no weight takes part. Everything it makes bears its own name and is removed at the end.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Final

from checks.gateway_urls import event_path, rollout_path
from checks.outcome import Rung, Status, Step
from checks.probes.asking import Ask, Found, broken_step
from checks.probes.contracts.question import PROMPT_ROOM
from checks.probes.gateway.calls import ANSWER_TOKENS, call
from checks.probes.gateway.door import CALL_SECONDS, Door, at_one_place, objects_of
from checks.probes.gateway.rollouts import GatewayRollout, Purpose, RolloutRefused, remove_all
from checks.probes.gateway.state import gateway_state, unless_busy
from checks.probes.gateway.triplets import Judged, judge_calls, judge_reward, triplets_step
from checks.reason import Reason

TOKENS: Final = 2 * (ANSWER_TOKENS + PROMPT_ROOM)  # what a whole dry run may cost
REWARD: Final = 0.5
STEPS: Final = ("gateway_train", "gateway_val", "gateway_reward", "triplets", "gateway_removed")


async def gateway_dry_run(ask: Ask) -> tuple[Step, ...]:
    """Ask a gateway for what a training run will ask of it; the steps are "gateway_state" and `STEPS`.

    A paused or busy gateway is left alone, unless the recipe says "even when busy" of the latter. Costs at
    most `TOKENS`. What it makes is removed, also when the caller is cancelled meanwhile. Asked from one
    place, as `at_one_place` chooses.
    """
    return await at_one_place(ask, "gateway_state", _dry_run)


async def _dry_run(ask: Ask) -> Found:
    door = Door(ask.spec)
    state = await gateway_state(ask, door, Rung.ROLLOUT)
    if state.status in (Status.OK, Status.DEGRADED):
        state = await unless_busy(ask, door, state)
    if state.status not in (Status.OK, Status.DEGRADED):
        return Found((state,))
    if not ask.affords(TOKENS):
        unpaid = Step(Rung.ROLLOUT, "gateway_train", Status.NOT_TESTABLE, Reason.BUDGET_SPENT)
        return Found((state, unpaid))
    await remove_all(door)
    return Found((state, *await _through(ask, door)))


async def _through(ask: Ask, door: Door) -> tuple[Step, ...]:
    rollouts = [
        GatewayRollout(door, purpose, seconds=ask.seconds(CALL_SECONDS))
        for purpose in (Purpose.TRAIN, Purpose.VAL)
    ]
    steps: list[Step] = []
    try:
        async with AsyncExitStack() as stack:
            for rollout in rollouts:
                await stack.enter_async_context(rollout)
            steps += await _asked(ask, door, *rollouts)
    except RolloutRefused as refused:
        evidence = door.evidence(refused.got)
        steps.append(broken_step(Rung.ROLLOUT, "gateway_train", ask.spec, evidence, {}))
    reached = {step.name for step in steps}
    steps += [Step(Rung.ROLLOUT, name, Status.NOT_REACHED) for name in STEPS[:-1] if name not in reached]
    return (*steps, _removal(rollouts))


async def _asked(ask: Ask, door: Door, train: GatewayRollout, val: GatewayRollout) -> list[Step]:
    """The steps up to the first that broke."""
    steps: list[Step] = []
    for rollout, name in ((train, "gateway_train"), (val, "gateway_val")):
        called = await call(ask, door, rollout, name)
        steps.append(called.step)
        if not called.passed:
            return steps
    rewarded = await _reward(ask, door, train)
    steps.append(rewarded)
    if rewarded.status is Status.OK:
        steps.append(await _triplets(ask, door, train, val))
    return steps


async def _reward(ask: Ask, door: Door, train: GatewayRollout) -> Step:
    document = {"event_type": "reward", "data": {"value": REWARD}}
    got = await door.send("POST", event_path(train.id), document, seconds=ask.seconds(CALL_SECONDS))
    if got.status is None or not 200 <= got.status < 300:
        return broken_step(Rung.ROLLOUT, "gateway_reward", ask.spec, door.evidence(got), {})
    say = {"reward": str(REWARD)}
    return Step(Rung.ROLLOUT, "gateway_reward", Status.OK, say=say, duration_ms=got.timings.total_ms)


async def _triplets(ask: Ask, door: Door, train: GatewayRollout, val: GatewayRollout) -> Step:
    """Read back what the trainer would read, and judge it by the trainer's own rule."""
    judged: list[Judged] = []
    evidence = None
    for rollout in (train, val):
        got = await door.send(
            "GET",
            f"{rollout_path(rollout.id)}/events?format=triplet",
            seconds=ask.seconds(CALL_SECONDS),
        )
        events = objects_of(got)
        if got.status != 200:
            return broken_step(Rung.ROLLOUT, "triplets", ask.spec, door.evidence(got), {})
        trains = rollout is train
        judged.append(judge_calls(events, with_logprobs=trains))
        if trains:
            judged.append(judge_reward(events))
            evidence = door.evidence(got)
    return replace(triplets_step("triplets", judged), evidence=evidence)


def _removal(rollouts: list[GatewayRollout]) -> Step:
    """Whether the gateway confirmed that nothing of ours is left."""
    left = [rollout.id for rollout in rollouts if not rollout.removed]
    say = {"removed": str(len(rollouts) - len(left)), "left": ", ".join(left)}
    status = Status.DEGRADED if left else Status.OK
    reason = Reason.ROLLOUTS_LEFT if left else None
    return Step(Rung.ROLLOUT, "gateway_removed", status, reason, say={k: v for k, v in say.items() if v})
