"""Rung 3: does the exported bundle work in the real client libraries of this lane, asked once each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from time import monotonic
from typing import Any, Final

from checks.addresses import chat_url
from checks.egress import evidence_of, reach
from checks.hosts import Ground, GroundLost
from checks.keys import describe
from checks.outcome import Evidence, FailureKind, Rung, Status, Step
from checks.probes.asking import Ask, Found, broken_step, lost_step, status_of
from checks.probes.chat import ANSWER_TOKENS, NEW_NAME, OLD_NAME, PROMPT
from checks.probes.client_story import Story, answer_alone, failure_alone
from checks.probes.gateway.sdk import through_rollout
from checks.probes.places import where_of
from checks.reason import Reason
from checks.spec import ClientSpec, EndpointKind, HostSpec, LaneKind, LaneSpec, Recipe, Where
from checks.verdict import classify

PROGRAM: Final = "client"
MARGIN_SECONDS: Final = 3.0  # between the client's own time-out and the program's end
REACH_SECONDS: Final = 5.0
LEAST_SECONDS: Final = 2.0  # a client cannot even be loaded in less
MAX_COMPLAINT: Final = 2_000

# What each lane is called with; the first is what most examples use.
CLIENTS_OF: Final[Mapping[LaneKind, tuple[str, ...]]] = {
    LaneKind.AGENT: ("openai", "langchain-openai"),
    LaneKind.REPLAY: ("litellm",),
    LaneKind.ROLLOUT: ("openai",),
}
STEP_OF: Final = {"openai": "sdk_openai", "langchain-openai": "sdk_langchain", "litellm": "sdk_litellm"}
_PACKAGES: Final = {"openai": "openai", "langchain-openai": "langchain_openai", "litellm": "litellm"}
_TWINS: Final = {OLD_NAME: NEW_NAME, NEW_NAME: OLD_NAME}


@dataclass(frozen=True, slots=True)
class Trial:
    """One client at one place. `allowed` are the addresses it may dial, None for all. `own` is the team's own
    environment on its host."""

    client: ClientSpec
    ground: Ground
    place: str
    python: str
    own: bool = False
    activate: str = ""
    workdir: str = ""
    allowed: tuple[str, ...] | None = None

    @property
    def step(self) -> str:
        """The name of its step."""
        return STEP_OF[self.client.name]


async def client(ask: Ask) -> Found:
    """Ask one question through each client of the lane, on the worker, on the host, or on both.

    One step a client and place. A lane without a client to ask through is one step without a reason.
    """
    spec = ask.spec
    if not spec.bundle:
        return Found((Step(Rung.SDK, "sdk", Status.NOT_TESTABLE, place=spec.place),))
    if spec.kind is EndpointKind.GATEWAY:
        return await through_rollout(ask, client)
    if not spec.model:
        return Found((_not_asked(spec, Reason.MODEL_MISSING),))
    steps: list[Step] = []
    where = where_of(spec)
    if where is Where.WORKER or where is Where.BOTH:
        steps += await _on_worker(ask)
    if spec.host is not None and where is not Where.WORKER:
        steps += await _on_host(ask.after(sum(step.tokens for step in steps)), spec.host)
    return Found(tuple(steps) or (Step(Rung.SDK, "sdk", Status.NOT_TESTABLE, place=spec.place),))


def _not_asked(spec: LaneSpec, reason: Reason) -> Step:
    return Step(Rung.SDK, "sdk", Status.NOT_TESTABLE, reason, place=spec.place)


async def _on_worker(ask: Ask) -> list[Step]:
    """The clients beside the worker, which dial what the egress policy allows and nothing else."""
    spec = ask.spec
    wanted = [one for one in spec.clients if one.name in CLIENTS_OF[spec.lane]]
    if not any(one.python for one in wanted):
        return [_absent(spec, one) for one in wanted]
    got = await reach(chat_url(spec.base_url), policy=spec.egress, deadline=ask.seconds(REACH_SECONDS))
    if got.failure is not None and got.failure.kind is FailureKind.DENIED:
        evidence = evidence_of(got, model=spec.model, lane=spec.lane, server=spec.kind)
        return [replace(broken_step(Rung.SDK, "sdk", spec, evidence, {}), place=spec.place)]
    steps: list[Step] = []
    for one in wanted:
        trial = Trial(one, ask.worker(), spec.place, one.python, allowed=got.addresses)
        spent = sum(step.tokens for step in steps)
        steps.append(await _try(ask.after(spent), trial) if one.python else _absent(spec, one))
    return steps


def _absent(spec: LaneSpec, wanted: ClientSpec) -> Step:
    """A client that was asked for and is not installed beside the worker."""
    named = f"{wanted.name}=={wanted.version}" if wanted.version else wanted.name
    say = {"client": wanted.name, "command": f"manage.py clients install {named}"}
    return Step(
        Rung.SDK, STEP_OF[wanted.name], Status.NOT_TESTABLE, Reason.CLIENT_MISSING, say=say, place=spec.place
    )


async def _on_host(ask: Ask, host: HostSpec) -> list[Step]:
    """The libraries that the team's own Python on the host holds; one it lacks is no fault."""
    recipe = ask.spec.recipe or Recipe()
    activate = recipe.activate or host.activate
    try:
        ground = await ask.host()
    except GroundLost as lost:
        return [lost_step(Rung.SDK, "sdk", lost, ask.host_place)]
    steps: list[Step] = []
    for name in CLIENTS_OF[ask.spec.lane]:
        trial = Trial(
            client=ClientSpec(name),
            ground=ground,
            place=ask.host_place,
            python=recipe.python or ("python3" if activate else host.python),
            own=True,
            activate=activate,
            workdir=recipe.workdir or host.workdir,
        )
        steps.append(await _try(ask.after(sum(step.tokens for step in steps)), trial))
    return steps


async def _try(ask: Ask, trial: Trial) -> Step:
    """Ask; once more under the other name of the length where the first one is refused."""
    parameter = ask.spec.token_parameter or OLD_NAME
    if trial.client.name == "langchain-openai":
        parameter = NEW_NAME  # what it sends, whatever its caller writes
    step = await _ask_once(ask, trial, parameter)
    if step.reason is Reason.MAX_TOKENS_PARAM_UNSUPPORTED:
        again = await _ask_once(ask.after(step.tokens), trial, _TWINS[parameter])
        return replace(again, tokens=again.tokens + step.tokens)
    return step


async def _ask_once(ask: Ask, trial: Trial, parameter: str) -> Step:
    begun = monotonic()
    reason = None if ask.affords(ANSWER_TOKENS) else Reason.BUDGET_SPENT
    if ask.seconds() < LEAST_SECONDS:
        reason = Reason.DEADLINE_SPENT
    if reason is not None:
        return Step(Rung.SDK, trial.step, Status.NOT_TESTABLE, reason, place=trial.place)
    try:
        told = await trial.ground.run(
            PROGRAM, _request(ask, trial, parameter), run=ask.spec.id, seconds=ask.seconds()
        )
    except GroundLost as lost:
        step = lost_step(Rung.SDK, trial.step, lost, trial.place)
        return replace(step, duration_ms=(monotonic() - begun) * 1000)
    story = Story(trial.client.name, told if isinstance(told, dict) else {})
    step = _judged(ask.spec, trial, story, story.evidence(ask.spec, parameter, ANSWER_TOKENS))
    return replace(step, duration_ms=(monotonic() - begun) * 1000, place=trial.place)


def _request(ask: Ask, trial: Trial, parameter: str) -> dict[str, Any]:
    spec = ask.spec
    asked = {
        "client": trial.client.name,
        "lane": str(spec.lane),
        "base_url": spec.base_url,
        "key": spec.key.reveal() if spec.key else "",
        "model": spec.model,
        "question": PROMPT,
        "parameter": parameter,
        "length": ANSWER_TOKENS,
        "wait": max(1.0, ask.seconds() - MARGIN_SECONDS),
        "allowed": None if trial.allowed is None else list(trial.allowed),
    }
    return {
        "asked": asked,
        "bundle": spec.bundle.reveal() if spec.bundle else "",
        "inside": _inside(),
        "python": trial.python,
        "login": trial.own,
        "activate": trial.activate,
        "workdir": trial.workdir if trial.own else "/",  # away from any .env that a library would find
    }


@cache
def _inside() -> str:
    return (resources.files("checks.hosts.programs") / "inside_client.py").read_text("utf-8")


def _judged(spec: LaneSpec, trial: Trial, story: Story, evidence: Evidence) -> Step:
    """Green needs the client's answer in hand, a completion seen below it, at the lane's own address."""
    say = _said(story)
    reason = _not_begun(trial, story)
    if reason is not None or story.is_absent(_PACKAGES[trial.client.name]):
        return Step(Rung.SDK, trial.step, Status.NOT_TESTABLE, reason, say=say)
    if story.text("elsewhere"):
        reason = _why_elsewhere(story)
        candidates = dict.fromkeys((reason, Reason.BASE_URL_NOT_APPLIED, Reason.ENV_SHADOWED))
        return _down(trial, reason, tuple(candidates), say, evidence)
    if story.answered:
        return Step(Rung.SDK, trial.step, Status.OK, say=say, evidence=evidence, tokens=story.tokens)
    return _failed(spec, trial, story, evidence, say)


def _failed(spec: LaneSpec, trial: Trial, story: Story, evidence: Evidence, say: dict[str, str]) -> Step:
    """The answer says more than what a client raised over it, unless the answer was good."""
    evidence = replace(evidence, context={**evidence.context, **_tails(spec, story)})
    if story.seen.get("is_completion") is True:
        judged = failure_alone(evidence)
    elif story.status is not None and story.seen.get("body"):
        judged = answer_alone(evidence)
    else:
        judged = evidence
    verdict = classify(judged)
    step = _down(trial, verdict.reason, verdict.candidates, {**say, **verdict.facts}, evidence)
    return replace(step, status=status_of(verdict.reason), tokens=story.tokens)


def _down(
    trial: Trial, reason: Reason, candidates: tuple[Reason, ...], say: dict[str, str], evidence: Evidence
) -> Step:
    return Step(Rung.SDK, trial.step, Status.DOWN, reason, candidates, say, evidence)


def _tails(spec: LaneSpec, story: Story) -> dict[str, str]:
    """The ends of both keys, where the client holds another than the lane's."""
    ours = describe(spec.key).last_four if spec.key else ""
    theirs = story.text("key_tail")
    return {"lane_key_tail": ours, "client_key_tail": theirs} if ours and theirs and ours != theirs else {}


def _not_begun(trial: Trial, story: Story) -> Reason | None:
    """The environment could not be entered, or the time was up before the library was loaded."""
    if story.text("lost") or story.is_silent:
        return Reason.CLIENT_ENVIRONMENT_BROKEN
    late = story.told.get("overran") is True and not story.text("base_url") and not story.chain
    return Reason.DEADLINE_SPENT if late else None


def _why_elsewhere(story: Story) -> Reason:
    """No address at all, one that a variable of that place names, or one of the client's own."""
    went = story.effective_base_url.rstrip("/")
    if "://" not in went:
        return Reason.BASE_URL_MALFORMED
    named = any(value.rstrip("/") == went for value in story.environment.values())
    return Reason.ENV_SHADOWED if named else Reason.BASE_URL_NOT_APPLIED


def _said(story: Story) -> dict[str, str]:
    """Values for the sentence on the page."""
    said = {name: story.text(name) for name in ("version", "key_tail", "model", "retries", "python", "lost")}
    said |= {"client": story.client, "base_url": story.effective_base_url}
    said["status"] = "" if story.status is None else str(story.status)
    if story.chain:
        said["error"] = ": ".join(story.chain[0])[:MAX_COMPLAINT]
    if story.text("lost") or story.is_silent:
        said["complaint"] = str(story.told.get("complaint") or "").strip()[-MAX_COMPLAINT:]
    return {name: value for name, value in said.items() if value}
