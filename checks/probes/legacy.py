"""The dry run of Agent-Lightning 0.x on its host: its own Trainer, proxy and store, and no weight moved.

Judged by the triplets that its adapter makes, never by status or exit code: an agent that catches every
refusal ends as "succeeded" (measured with 0.3.0).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from time import monotonic
from typing import Any, Final

from checks.hosts import GroundLost
from checks.outcome import Evidence, Rung, Status, Step
from checks.probes.asking import Ask, lost_step
from checks.probes.chat import PROMPT
from checks.reason import Reason
from checks.verdict.pasted import causes_of

PROGRAM: Final = "legacy"
MARGIN_SECONDS: Final = 15.0
STARTING_SECONDS: Final = 90.0  # what proxy, store and runner take to come up, beside the agent's own time
TOKENS: Final = 2 * 512  # of our own agent's two questions, and the proxy's real call for its health
ROLLOUTS: Final = 2
BODY_KEPT: Final = 8_192
SHOWN: Final = 400
PINS: Final = "agentlightning==0.3.0 litellm[proxy]<1.104 opentelemetry-*<=1.42.1"
_CLASS_FAULTS: Final = ("AttributeError", "TypeError")
_EXCEPTION: Final = re.compile(r"[A-Za-z_][\w.]{0,120}(?:Error|Exception): ")
_PASSING: Final = frozenset({"rate", "server"})


async def legacy_run(ask: Ask) -> tuple[Step, ...]:
    """Run one training and one validation rollout as 0.x does; return the steps "legacy" and
    "legacy_triplets". Nothing where the lane has no host, or its recipe is of another generation.

    Without an agent class in the recipe a small one of ours asks a question.
    """
    recipe = ask.spec.recipe
    if recipe is None or ask.spec.host is None or recipe.generation != "0.x":
        return ()
    place, begun = ask.host_place, monotonic()
    if not ask.affords(TOKENS):
        return (Step(Rung.ROLLOUT, "legacy", Status.NOT_TESTABLE, Reason.BUDGET_SPENT, place=place),)
    try:
        told = await _run(ask)
    except GroundLost as lost:
        return (lost_step(Rung.ROLLOUT, "legacy", lost, place),)
    ended = replace(_ended(told), duration_ms=(monotonic() - begun) * 1000)
    return tuple(replace(step, place=place) for step in (ended, _triplets(ended, told)))


async def _run(ask: Ask) -> Mapping[str, Any]:
    recipe, host = ask.spec.recipe, ask.spec.host
    if recipe is None or host is None:
        raise ValueError("A dry run of 0.x goes by a recipe, on a host.")
    ground = await ask.host()
    deadline = min(recipe.agent_deadline + STARTING_SECONDS, max(1.0, ask.seconds() - MARGIN_SECONDS))
    request = {
        "workdir": recipe.workdir or host.workdir,
        "python": recipe.python or host.python,
        "activate": recipe.activate or host.activate,
        "bundle": ask.spec.bundle.reveal() if ask.spec.bundle else "",
        "base_url": ask.spec.base_url,
        "key": ask.spec.key.reveal() if ask.spec.key else "",
        "model": ask.spec.model,
        "agent": recipe.agent,
        "question": recipe.question or PROMPT,
        "question_field": recipe.question_field,
        "deadline": deadline,
        "child": _child(),
    }
    told = await ground.run(
        PROGRAM,
        request,
        run=ask.spec.id,
        seconds=min(deadline + MARGIN_SECONDS, ask.seconds()),
        heard=lambda event: ask.tell_output(str(event.get("text", "")) if event["event"] == "output" else ""),
    )
    return told if isinstance(told, Mapping) else {}


@cache
def _child() -> str:
    return (resources.files("checks.hosts.programs") / "legacy_child.py").read_text("utf-8")


def _ended(told: Mapping[str, Any]) -> Step:
    """How the run came to an end, and why where it did not come to both of its rollouts."""
    tail = str(told.get("tail") or "")
    evidence = Evidence(method="", client="agentlightning", body=tail[-BODY_KEPT:])
    step = Step(Rung.ROLLOUT, "legacy", Status.OK, say=_versions(told), evidence=evidence)
    if not _events(told, "versions"):
        lost = str(told.get("error") or tail[-SHOWN:]).strip()
        return _down(
            step, (Reason.HOST_PYTHON_MISSING,), {"error": lost[:SHOWN], "exit": str(told.get("exit", ""))}
        )
    for unfit in _events(told, "unfit"):
        packages = unfit.get("packages")
        named = packages.items() if isinstance(packages, Mapping) else ()
        found = ", ".join(f"{name} {version}" for name, version in named)
        return _down(step, (Reason.LIGHTNING_VERSION_UNFIT,), {"found": found[:SHOWN], "wanted": PINS})
    for error in _events(told, "error"):
        return _down(step, _why(error, tail), {"error": _said(error)})
    rollouts = _events(told, "rollout")
    if len(rollouts) < ROLLOUTS:
        silent = Reason.AGENT_OVERRAN if told.get("overran") else Reason.AGENT_NO_ANSWER
        say = {"rollouts": str(len(rollouts)), "exit": _exit(told)}
        return _down(step, _causes(tail) or (silent,), say)
    if any(one.get("status") != "succeeded" for one in rollouts):
        return _down(step, _causes(tail) or (Reason.AGENT_NO_ANSWER,), {"rollouts": str(len(rollouts))})
    return replace(step, say={**step.say, "rollouts": str(len(rollouts))})


def _versions(told: Mapping[str, Any]) -> dict[str, str]:
    first: Mapping[str, Any] = next(iter(_events(told, "versions")), {})
    versions = first.get("versions")
    named = versions.items() if isinstance(versions, Mapping) else ()
    say = {str(name)[:60]: str(version)[:60] for name, version in list(named)[:8] if version}
    return say | ({"python": str(first["python"])[:20]} if first.get("python") else {})


def _why(error: Mapping[str, Any], tail: str) -> tuple[Reason, ...]:
    """The agent could not be had, or what the run itself printed and raised says why it broke."""
    if error.get("stage") == "import":
        of_class = error.get("error") in _CLASS_FAULTS
        return (Reason.AGENT_CONSTRUCTION_FAILED if of_class else Reason.AGENT_IMPORT_FAILED,)
    return _causes(tail) or causes_of(str(error.get("trace") or "")) or (Reason.AGENT_NO_ANSWER,)


def _exit(told: Mapping[str, Any]) -> str:
    return "" if told.get("exit") is None else str(told["exit"])


def _causes(tail: str) -> tuple[Reason, ...]:
    """What was printed, the first exception before those that follow from it: after one refusal litellm rests
    its only deployment, and answers 429 by itself."""
    raised = [causes_of(line) for line in tail.splitlines() if _EXCEPTION.match(line)]
    first = (found for found in raised if found and found[0].layer not in _PASSING)
    return next(first, ()) or causes_of(tail)


def _said(error: Mapping[str, Any]) -> str:
    return f"{error.get('error')}: {error.get('text')}"[:SHOWN]


def _down(step: Step, causes: tuple[Reason, ...], say: Mapping[str, str]) -> Step:
    told = {name: text for name, text in {**step.say, **say}.items() if text}
    return replace(step, status=Status.DOWN, reason=causes[0], candidates=causes, say=told)


def _triplets(ended: Step, told: Mapping[str, Any]) -> Step:
    """Both rollouts must hold a triplet with ids on both sides, and a finite reward."""
    step = Step(Rung.ROLLOUT, "legacy_triplets", Status.NOT_REACHED)
    if ended.status is not Status.OK:
        return step
    reasons: list[Reason] = []
    for rollout in _events(told, "rollout"):
        listed = rollout.get("triplets")
        triplets = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
        reason, say = _judged(triplets)
        step = replace(step, say=say if reason or not step.say else step.say)
        reasons += [reason] if reason else []
    if not reasons:
        return replace(step, status=Status.OK)
    causes = _causes(str(told.get("tail") or "")) if reasons[0] is Reason.TRIPLETS_MISSING else ()
    found = (*causes, reasons[0])
    return replace(step, status=Status.DOWN, reason=found[0], candidates=found)


def _judged(triplets: list[Mapping[str, Any]]) -> tuple[Reason | None, dict[str, str]]:
    whole = [one for one in triplets if one.get("prompt") and one.get("response")]
    rewards = [reward for one in triplets if _is_finite(reward := one.get("reward"))]
    best: Mapping[str, Any] = next(iter(whole or triplets), {})
    say = {"calls": str(len(triplets)), "usable": str(len(whole)), "rewards": str(len(rewards))}
    say |= {f"{name}_ids": str(best.get(name, 0)) for name in ("prompt", "response")}
    if not triplets:
        return Reason.TRIPLETS_MISSING, say
    if not whole:
        return Reason.TOKEN_IDS_MISSING, say
    return (None if rewards else Reason.REWARD_MISSING), say


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _events(told: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    events = told.get("events")
    listed = events if isinstance(events, list) else []
    return [one for one in listed if isinstance(one, Mapping) and one.get("event") == kind]
