"""Rung 4: the project's own agent on its host, or the reference agent; judged by its calls and its answer.

An exit code decides nothing: an Agent-Lightning 0.x example ends with 0 while every call was refused
(measured with 0.3.0).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from checks.addresses import chat_url
from checks.dialects import Block, Document, Entry, write
from checks.hosts import Ground, GroundLost
from checks.keys import describe
from checks.outcome import Evidence, Failure, FailureKind, Phase, Rung, Status, Step, Timings
from checks.probes.asking import Ask, Found, broken_step, lost_step
from checks.probes.chat import ANSWER_TOKENS
from checks.probes.completion import MAX_COUNTED_TOKENS
from checks.probes.reference import reference_agent
from checks.reason import Reason
from checks.spec import EndpointKind, HostSpec, LaneKind, LaneSpec, Recipe
from checks.verdict import classify

PROGRAM: Final = "agent"
CHILD: Final = "agent_child.py"
MARGIN_SECONDS: Final = 12.0  # for ending what the agent started
LEAST_SECONDS: Final = 2.0
MAX_CA_BYTES: Final = 262_144
MAX_SHOWN: Final = 500
STAGES: Final = {"import": "agent_import", "construct": "agent_construct", "answer": "agent_answer"}
QUESTION: Final = "What is 6 times 7? Answer with the number alone."
BROKEN: Final = {
    "import": Reason.AGENT_IMPORT_FAILED,
    "construct": Reason.AGENT_CONSTRUCTION_FAILED,
    "answer": Reason.AGENT_NO_ANSWER,
}
GIVES_REWARD: Final = frozenset({"runner", "rollout", "run"})


async def agent(ask: Ask) -> Found:
    """Run the recipe's agent on the host once; without one, let the reference agent use the agent lane.

    Steps: "agent_import", "agent_construct" and "agent_answer" for the project's, "agent_answer" alone for
    the reference agent. Lanes that no agent calls, and gateways, whose agents need a rollout first, have
    nothing to ask: one step "agent", not testable.
    """
    spec = ask.spec
    if spec.lane is not LaneKind.AGENT or spec.kind is EndpointKind.GATEWAY:
        return Found((Step(Rung.AGENT, "agent", Status.NOT_TESTABLE),))
    if not ask.affords(ANSWER_TOKENS):
        return Found((Step(Rung.AGENT, "agent_answer", Status.NOT_TESTABLE, Reason.BUDGET_SPENT),))
    if spec.host is None or spec.recipe is None or not spec.recipe.agent:
        return Found(await reference_agent(ask))
    try:
        return Found(await agent_on(ask, await ask.host(), spec.host, spec.recipe))
    except GroundLost as lost:
        return Found((lost_step(Rung.AGENT, "agent_import", lost, ask.host_place),))


async def agent_on(ask: Ask, ground: Ground, host: HostSpec, recipe: Recipe) -> tuple[Step, ...]:
    """Run the recipe's agent on `ground` and return its steps. Raises GroundLost."""
    deadline = min(recipe.agent_deadline, ask.seconds() - MARGIN_SECONDS)
    if deadline < LEAST_SECONDS:
        return (Step(Rung.AGENT, "agent_import", Status.NOT_TESTABLE, Reason.DEADLINE_SPENT),)
    told = await ground.run(
        PROGRAM,
        _request(ask.spec, host, recipe, deadline),
        run=ask.spec.id,
        seconds=deadline + MARGIN_SECONDS,
        heard=lambda event: ask.tell_output(str(event.get("text", ""))),
    )
    return _Reading(ask, told if isinstance(told, dict) else {}).steps()


def _request(spec: LaneSpec, host: HostSpec, recipe: Recipe, deadline: float) -> dict[str, object]:
    return {
        "workdir": recipe.workdir or host.workdir,
        "python": recipe.python or host.python,
        "activate": recipe.activate or host.activate,
        "bundle": spec.bundle.reveal() if spec.bundle else _bundle(spec),
        "base_url": spec.base_url,
        "ca": Path(spec.ca_file).read_text("utf-8")[:MAX_CA_BYTES] if spec.ca_file else "",
        "model": spec.model,
        "agent": recipe.agent,
        "question": recipe.question or QUESTION,
        "question_field": recipe.question_field,
        "deadline": deadline,
        "child": (resources.files("checks.hosts.programs") / CHILD).read_text("utf-8"),
    }


def _bundle(spec: LaneSpec) -> str:
    """What a project needs at least, for a lane whose bundle was not given."""
    names = {"OPENAI_BASE_URL": spec.base_url, "OPENAI_API_BASE": spec.base_url, "MODEL": spec.model}
    entries = [Entry(name, value) for name, value in names.items()]
    if spec.key:
        entries.append(Entry("OPENAI_API_KEY", spec.key))
    return write("sh", Document((Block(tuple(entries)),)))


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the program told of one agent, as steps."""

    ask: Ask
    told: Mapping[str, Any]

    def steps(self) -> tuple[Step, ...]:
        """The stages up to the first that broke; those behind it are not reached."""
        steps: list[Step] = []
        for stage, name in STAGES.items():
            if steps and steps[-1].status is not Status.OK:
                steps.append(self._step(name, Status.NOT_REACHED, None, {}))
            elif stage == "answer":
                steps.append(self._answer())
            else:
                steps.append(self._stage(stage))
        return tuple(steps)

    def _stage(self, stage: str) -> Step:
        end = self._end(stage)
        if end.get("ok"):
            return self._step(STAGES[stage], Status.OK, None, {"agent": self._agent}, end)
        return self._broken(stage, end)

    def _answer(self) -> Step:
        """The calls first: what the agent says of itself cannot make up for calls that failed."""
        end = self._end("answer")
        calls = _chats(self.told)
        passed, failed = [one for one in calls if one["complete"]], [one for one in calls if _has_failed(one)]
        say = self._say(end, len(calls), len(failed))
        if self.told.get("overran"):
            pending = len(calls) - len(passed) - len(failed)
            say |= {"pending": str(pending), "stage": "answer"}
            return self._step("agent_answer", Status.DOWN, Reason.AGENT_OVERRAN, say, end)
        if not passed and failed:
            return self._refused(Status.DOWN, failed[0], say, end)
        if not end.get("ok") or not passed:
            return self._broken("answer", end, say)
        if failed:
            return self._refused(Status.DEGRADED, failed[0], say, end)
        return self._worth(end, say)

    def _worth(self, end: Mapping[str, Any], say: dict[str, str]) -> Step:
        """All calls passed and the agent returned: what did it bring?"""
        rewards = [one["value"] for one in self.told.get("events", ()) if one.get("type") == "reward"]
        reward = str(rewards[-1] if rewards else end.get("reward") or "")
        say["reward"] = reward[:40]
        if _is_number(reward):
            return self._step("agent_answer", Status.OK, None, say, end)
        if end.get("way") in GIVES_REWARD:
            return self._step("agent_answer", Status.DEGRADED, Reason.REWARD_MISSING, say, end)
        if end.get("empty"):
            return self._step("agent_answer", Status.DOWN, Reason.AGENT_NO_ANSWER, say, end)
        return self._step("agent_answer", Status.OK, None, say, end)

    def _refused(
        self, status: Status, call: Mapping[str, Any], say: Mapping[str, str], end: Mapping[str, Any]
    ) -> Step:
        """The verdict on a recorded call; "swallowed" where the agent ended as if nothing had happened."""
        spec = self.ask.spec
        made = {**say, "swallowed": "yes" if end.get("ok") else "no"}
        step = broken_step(Rung.AGENT, "agent_answer", spec, call_evidence(spec, call), made, self._tokens)
        return self._placed(step, step.status if step.status is Status.NOT_TESTABLE else status, end)

    def _broken(self, stage: str, end: Mapping[str, Any], say: Mapping[str, str] | None = None) -> Step:
        """A stage that raised, or was left by the process in its midst."""
        overran = bool(self.told.get("overran"))
        reason = Reason.AGENT_OVERRAN if overran else BROKEN[stage]
        chain = tuple((str(one[0]), str(one[1])) for one in end.get("chain", ()))
        text = f"{chain[0][0]}: {chain[0][1]}" if chain else str(self.told.get("error") or "")
        made = {
            **(say or {"agent": self._agent}),
            "stage": stage,
            "error": text[:MAX_SHOWN],
            "frames": " | ".join(map(str, end.get("frames", ())))[:MAX_SHOWN],
            "exit": str(self.told.get("exit", "")),
            "printed": str(self.told.get("tail", ""))[-MAX_SHOWN:],
        }
        failure = Failure(FailureKind.CLIENT, text, Phase.BUILD, chain=chain)
        evidence = Evidence(method="", lane=self.ask.spec.lane, failure=failure)
        also = classify(evidence).reason if chain else Reason.UNEXPLAINED
        candidates = (reason,) if also is Reason.UNEXPLAINED else (reason, also)
        return self._step(STAGES[stage], Status.DOWN, reason, made, end, candidates, evidence)

    def _say(self, end: Mapping[str, Any], calls: int, failed: int) -> dict[str, str]:
        urls = next((one for one in self._said if one.get("stage") == "environment"), {}).get("base_urls", {})
        shown = ", ".join(f"{name}={value}" for name, value in sorted(urls.items()))
        models = {str(one["model"]) for one in _chats(self.told) if one["model"]}
        return {
            "agent": self._agent,
            "calls": str(calls),
            "failed": str(failed),
            "over": str(self.told.get("refused", 0)),
            "model": ", ".join(sorted(models))[:MAX_SHOWN],
            "base_urls": shown[:MAX_SHOWN],
            "way": str(end.get("way", "")),
            "answer": str(end.get("value", ""))[:MAX_SHOWN],
            "left": str(self.told.get("left", 0)),
        }

    @property
    def _agent(self) -> str:
        return self.ask.spec.recipe.agent if self.ask.spec.recipe else ""

    @property
    def _said(self) -> Sequence[Mapping[str, Any]]:
        return [one for one in self.told.get("said", ()) if isinstance(one, dict)]

    def _end(self, stage: str) -> Mapping[str, Any]:
        return next((one for one in self._said if one.get("stage") == stage and "ok" in one), {})

    @property
    def _tokens(self) -> int:
        counted = [call.get("tokens") for call in self.told.get("calls", ())]
        return sum(one for one in counted if isinstance(one, int) and 0 <= one <= MAX_COUNTED_TOKENS)

    def _step(
        self,
        name: str,
        status: Status,
        reason: Reason | None,
        say: Mapping[str, str],
        end: Mapping[str, Any] | None = None,
        candidates: tuple[Reason, ...] = (),
        evidence: Evidence | None = None,
    ) -> Step:
        found = candidates or ((reason,) if reason else ())
        step = Step(Rung.AGENT, name, status, reason, found, say, evidence)
        return self._placed(step, status, end or {})

    def _placed(self, step: Step, status: Status, end: Mapping[str, Any]) -> Step:
        seconds = end.get("seconds")
        milliseconds = float(seconds) * 1000 if isinstance(seconds, (int, float)) else 0.0
        tokens = self._tokens if step.name == "agent_answer" else 0
        return Step(
            step.rung, step.name, status, step.reason, step.candidates, step.say, step.evidence,
            duration_ms=milliseconds, tokens=tokens, place=self.ask.host_place,
        )  # fmt: skip


def call_evidence(spec: LaneSpec, call: Mapping[str, Any]) -> Evidence:
    """Return a call that the relay recorded as evidence, as if the agent had asked the lane directly."""
    told = call.get("failure")
    milliseconds = call.get("ms")
    context: dict[str, object] = {"authorization_header_sent": bool(call.get("authorized"))}
    if spec.key and call.get("authorized"):
        context["key"] = asdict(describe(spec.key))
    return Evidence(
        url=_called(spec, str(call.get("path", ""))),
        model=str(call.get("model", "")),
        params={name: True for name in ("tools", "stream") if call.get(name)},
        lane=spec.lane,
        client=str(call.get("agent", "")),
        server=spec.kind,
        status=call.get("status"),
        headers={str(name): str(value) for name, value in (call.get("headers") or {}).items()},
        body=str(call.get("body", "")),
        failure=_failure(told) if isinstance(told, dict) else None,
        timings=Timings(wait_ms=milliseconds if isinstance(milliseconds, (int, float)) else None),
        context=context,
    )


def _called(spec: LaneSpec, path: str) -> str:
    scheme, _, rest = spec.base_url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}{path}" if path else chat_url(spec.base_url)


def _failure(told: Mapping[str, Any]) -> Failure:
    text, number = str(told.get("text", "")), told.get("errno")
    return Failure(
        FailureKind(str(told.get("kind"))),
        text,
        Phase(str(told.get("phase"))),
        number if isinstance(number, int) else None,
        ((str(told.get("class", "")), text),),
    )


def _chats(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The calls that ask for a completion, wherever the agent sent them."""
    calls = [one for one in told.get("calls", ()) if isinstance(one, dict)]
    return [one for one in calls if one["method"] == "POST" and not str(one["path"]).endswith("/embeddings")]


def _has_failed(call: Mapping[str, Any]) -> bool:
    return not call["complete"] and (call["failure"] is not None or call["status"] is not None)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
