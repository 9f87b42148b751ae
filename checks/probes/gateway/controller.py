"""The team's own agent class, run on its host by the real controller of Agent-Lightning 1.x.

Judged by what the gateway recorded and never by the exit code: a rollout without token ids ends as
"succeeded", and one that failed says no more than "subprocess exited with code 1" (1.0.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Final

from checks.gateway_urls import rollout_path
from checks.hosts import GroundLost
from checks.outcome import Evidence, Failure, FailureKind, Rung, Status, Step
from checks.probes.asking import Ask, Found, broken_step, lost_step
from checks.probes.gateway.calls import upstream_evidence
from checks.probes.gateway.door import CALL_SECONDS, Door, at_one_place, objects_of
from checks.probes.gateway.rollouts import GatewayRollout, Purpose, RolloutRefused
from checks.probes.gateway.triplets import Event, failed_call, judge_calls, judge_reward, triplets_step
from checks.reason import Reason
from checks.verdict import classify

PROGRAM: Final = "controller"
MARGIN_SECONDS: Final = 40.0  # for the version, the controller's own start and its end
BODY_KEPT: Final = 8_192
LINE_SHOWN: Final = 400
WITH_AGENT_URL: Final = (1, 0, 2)  # older local controllers pass over `agent_url` (agent-lightning #581)

# In a traceback of the controller's worker the line that loads the class (1.0.0 to 1.0.2).
_LOADING: Final = "importlib.import_module(module_name)"
_CLASS_FAULTS: Final = ("AttributeError", "TypeError")


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What the gateway recorded of one rollout, whole and trimmed."""

    rollout: GatewayRollout
    events: list[Event]
    triplets: list[Event]


async def controller_run(ask: Ask) -> tuple[Step, ...]:
    """Run the recipe's agent once in training and once in validation; return the steps "controller" and
    "controller_triplets". Nothing where there is no host or no agent class of this generation.

    No other rollout of the gateway is touched, whether it waits or runs.
    """
    recipe = ask.spec.recipe
    if recipe is None or ask.spec.host is None or not recipe.agent or recipe.generation != "1.x":
        return ()
    steps = await at_one_place(ask, "controller", _controller)
    return tuple(replace(step, place=ask.host_place) for step in steps)


async def _controller(ask: Ask) -> Found:
    begun, door = monotonic(), Door(ask.spec)
    try:
        async with AsyncExitStack() as stack:
            rollouts = [
                await stack.enter_async_context(GatewayRollout(door, purpose, seconds=CALL_SECONDS))
                for purpose in (Purpose.AGENT_TRAIN, Purpose.AGENT_VAL)
            ]
            told = await _run(ask, rollouts)
            recorded = [await _recorded(door, rollout) for rollout in rollouts]
    except GroundLost as lost:
        return Found((lost_step(Rung.ROLLOUT, "controller", lost, ask.host_place),))
    except RolloutRefused as refused:
        return Found((broken_step(Rung.ROLLOUT, "controller", ask.spec, door.evidence(refused.got), {}),))
    spent = sum(_tokens(one.events) for one in recorded)
    ended = replace(_ended(ask, door, told, recorded), duration_ms=(monotonic() - begun) * 1000, tokens=spent)
    return Found((ended, _triplets(ask, door, ended, recorded)))


async def _run(ask: Ask, rollouts: list[GatewayRollout]) -> Mapping[str, Any]:
    recipe, host = ask.spec.recipe, ask.spec.host
    if recipe is None or host is None:
        raise ValueError("A controller runs by a recipe, on a host.")
    ground = await ask.host()
    deadline = min(recipe.agent_deadline, max(1.0, ask.seconds() - MARGIN_SECONDS))
    request = {
        "workdir": recipe.workdir or host.workdir,
        "python": recipe.python or host.python,
        "activate": recipe.activate or host.activate,
        "bundle": ask.spec.bundle.reveal() if ask.spec.bundle else "",
        "gateway": Door(ask.spec).root,
        "key": ask.spec.key.reveal() if ask.spec.key else "",
        "rollouts": [{"id": one.id, "train": one.purpose.mode == "train"} for one in rollouts],
        "agent": recipe.agent,
        "question": recipe.question,
        "question_field": recipe.question_field,
        "deadline": deadline,
    }
    told = await ground.run(
        PROGRAM,
        request,
        run=ask.spec.id,
        seconds=min(deadline + MARGIN_SECONDS, ask.seconds()),
        heard=lambda event: ask.tell_output(str(event.get("text", "")) if event["event"] == "output" else ""),
    )
    return told if isinstance(told, Mapping) else {}


async def _recorded(door: Door, rollout: GatewayRollout) -> _Recorded:
    path = f"{rollout_path(rollout.id)}/events"
    whole = await door.send("GET", path)
    trimmed = await door.send("GET", f"{path}?format=triplet")
    return _Recorded(rollout, list(objects_of(whole)), list(objects_of(trimmed)))


def _ended(ask: Ask, door: Door, told: Mapping[str, Any], recorded: list[_Recorded]) -> Step:
    """How the controller and its rollouts came to an end, and why where one failed."""
    version, complaint = str(told.get("version") or ""), str(told.get("complaint") or "")
    say = {name: str(told[name])[:LINE_SHOWN] for name in ("version", "python", "error") if told.get(name)}
    evidence = Evidence(method="", client="agl-controller", body=complaint[-BODY_KEPT:])
    step = Step(Rung.ROLLOUT, "controller", Status.OK, say=say, evidence=evidence)
    if told.get("error"):
        return _down(step, Reason.HOST_PYTHON_MISSING, {"python": str(told.get("python", ""))})
    if not version.startswith("1."):
        return _down(step, Reason.LIGHTNING_VERSION_UNFIT, {"wanted": "1.0.2"})
    if _numbers(version) < WITH_AGENT_URL:
        step = replace(step, say=say | {"better": "1.0.2"})
    states = told.get("rollouts")
    states = states if isinstance(states, Mapping) else {}
    for one in recorded:
        found = states.get(one.rollout.id)
        state = str(found.get("state", "")) if isinstance(found, Mapping) else ""
        if state == "failed":
            return _failed(ask, door, one, step, complaint)
        if state != "succeeded":
            gone = told.get("ended") is not None
            return _down(
                step, Reason.LIGHTNING_VERSION_UNFIT if gone else Reason.AGENT_OVERRAN, {"state": state}
            )
    return replace(step, say={**step.say, "rollouts": str(len(recorded))})


def _failed(ask: Ask, door: Door, one: _Recorded, step: Step, complaint: str) -> Step:
    """Why an agent failed: the model server refused it, its class cannot be loaded, or its last words say."""
    say = {**step.say, "mode": one.rollout.purpose.mode, "words": _last_line(complaint)}
    refused = failed_call(one.events)
    if refused is not None:
        evidence, more = upstream_evidence(door, refused)
        return broken_step(Rung.ROLLOUT, "controller", ask.spec, evidence, say | more)
    if _LOADING in complaint.rpartition("Traceback (most recent call last)")[2]:
        of_class = _last_line(complaint).startswith(_CLASS_FAULTS)
        reason = Reason.AGENT_CONSTRUCTION_FAILED if of_class else Reason.AGENT_IMPORT_FAILED
        return _down(step, reason, say)
    name, _, text = _last_line(complaint).partition(": ")
    failure = Failure(FailureKind.CLIENT, f"{name}: {text}", chain=((name, text),))
    evidence = Evidence(
        url=f"{one.rollout.base_url}/chat/completions",
        model=ask.spec.model,
        client="agl-controller",
        body="",
        failure=failure,
        context={"through_gateway": True},
    )
    verdict = classify(evidence)
    if verdict.reason is Reason.UNEXPLAINED:
        return _down(step, Reason.AGENT_NO_ANSWER, say)
    return replace(_down(step, verdict.reason, say), candidates=verdict.candidates)


def _down(step: Step, reason: Reason, say: Mapping[str, str]) -> Step:
    told = {name: text for name, text in {**step.say, **say}.items() if text}
    return replace(step, status=Status.DOWN, reason=reason, candidates=(reason,), say=told)


def _last_line(complaint: str) -> str:
    """The line that names the exception: the last one that is not indented."""
    lines = [line for line in complaint.splitlines() if line.strip() and not line.startswith((" ", "\t"))]
    return lines[-1][:LINE_SHOWN] if lines else ""


def _triplets(ask: Ask, door: Door, ended: Step, recorded: list[_Recorded]) -> Step:
    """What the trainer would make of both rollouts; agents that swallow refusals end well all the same."""
    if ended.status is not Status.OK:
        return Step(Rung.ROLLOUT, "controller_triplets", Status.NOT_REACHED)
    judged = [
        judge
        for one in recorded
        for judge in (
            judge_calls(one.triplets, with_logprobs=one.rollout.purpose.mode == "train"),
            judge_reward(one.triplets),
        )
    ]
    step = triplets_step("controller_triplets", judged)
    refused = next((failed for one in recorded if (failed := failed_call(one.events)) is not None), None)
    if step.reason is not Reason.TRIPLETS_MISSING or refused is None:
        return step
    evidence, more = upstream_evidence(door, refused)
    return broken_step(Rung.ROLLOUT, "controller_triplets", ask.spec, evidence, {**step.say, **more})


def _tokens(events: list[Event]) -> int:
    """What the calls of a rollout cost, as the model server counted."""
    spent = 0
    for event in events:
        data = event.get("data")
        usage = data.get("usage") if isinstance(data, Mapping) else None
        total = usage.get("total_tokens") if isinstance(usage, Mapping) else None
        spent += total if isinstance(total, int) and not isinstance(total, bool) and total > 0 else 0
    return spent


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())
