"""One question of a lane contract: is it paid for, is there time, what was sent and what came back."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from checks.addresses import chat_url
from checks.egress import Exchange, exchange
from checks.outcome import Evidence, FailureKind, Rung, Status, Step
from checks.probes.asking import Ask, broken_step
from checks.probes.chat import ANSWER_TOKENS, PROMPT, key_context, lane_evidence, lane_headers
from checks.probes.completion import read_completion, read_json, tokens_spent
from checks.reason import Reason
from checks.spec import LaneSpec
from checks.verdict import classify

PROMPT_ROOM: Final = 256  # tokens a prompt of ours may take, tools and the model's own template with it
LOOK_SECONDS: Final = 3.0  # for a small page that is either there or not
LEAST_SECONDS: Final = 0.5  # with less there is no use in asking
FAIR_SECONDS: Final = 2.0
FAIR_TIMES: Final = 3.0  # what a question may take, in times of the chat, before silence is a fault

# An answer that speaks of the pace of our own questions: the lane is not broken by it.
PACE: Final = frozenset({Reason.RATE_LIMITED, Reason.UPSTREAM_OVERLOADED})

# A refusal of the length that we asked for, which says nothing of the lane's own.
NO_ROOM: Final = frozenset({Reason.OUTPUT_TOKENS_OUT_OF_RANGE, Reason.CONTEXT_LENGTH_EXCEEDED})

Message = Mapping[str, object]
USER: Final[tuple[Message, ...]] = ({"role": "user", "content": PROMPT},)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a clause is asked with: the rest of the climb, and what the chat before it has shown.

    `parameter` is the length field that the model took, `chat_ms` what the chat took in milliseconds,
    `chat_tokens` what it cost.
    """

    ask: Ask
    parameter: str
    chat_ms: float
    chat_tokens: int

    @property
    def spec(self) -> LaneSpec:
        """The lane."""
        return self.ask.spec

    @property
    def fair_seconds(self) -> float:
        """The time after which silence is the endpoint's fault and not our deadline's."""
        return max(FAIR_SECONDS, FAIR_TIMES * self.chat_ms / 1000)


Clause = Callable[[Terms], Awaitable[Step]]
"""One promise of a lane, asked for once. Its name is the name of the step it makes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question brought: `body` is the JSON of a 2xx, None where there is none."""

    got: Exchange
    body: object
    evidence: Evidence
    tokens: int


def unpayable(terms: Terms, name: str, tokens: int) -> Step | None:
    """Return the step of a question that cannot be asked: for want of `tokens` of answer and room for
    the prompt, or of time; None where it can."""
    left = terms.ask.tokens_left
    if left is not None and left < tokens + PROMPT_ROOM:
        return Step(Rung.CHANNEL, name, Status.NOT_TESTABLE, Reason.BUDGET_SPENT)
    if terms.ask.seconds() < LEAST_SECONDS:
        return Step(Rung.CHANNEL, name, Status.NOT_TESTABLE, Reason.DEADLINE_SPENT)
    return None


async def post(terms: Terms, url: str, fields: Mapping[str, object]) -> Answer:
    """Send `fields` and the model to `url` once; the evidence names them all but the messages. Never
    raises but on cancellation."""
    spec = terms.spec
    got = await exchange(
        "POST",
        url,
        policy=spec.egress,
        deadline=terms.ask.seconds(),
        headers={**lane_headers(spec), "content-type": "application/json"},
        content=json.dumps({"model": spec.model, **fields}).encode(),
        ca_file=spec.ca_file,
    )
    body = read_json(got)
    shown = {name: value for name, value in fields.items() if name != "messages"}
    return Answer(got, body, lane_evidence(spec, got, shown, key_context(spec)), tokens_spent(body))


async def look(terms: Terms, url: str, *, with_key: bool = False) -> Exchange:
    """GET a small page of the lane's own server, with the lane's key only where `with_key` says so."""
    spec = terms.spec
    return await exchange(
        "GET",
        url,
        policy=spec.egress,
        deadline=terms.ask.seconds(LOOK_SECONDS),
        headers=lane_headers(spec if with_key else replace(spec, key=None)),
        ca_file=spec.ca_file,
    )


async def completed(
    terms: Terms,
    name: str,
    fields: Mapping[str, object],
    *,
    messages: Sequence[Message] = USER,
    tokens: int = ANSWER_TOKENS,
    parameter: str = "",
) -> Answer | Step:
    """Ask for a completion with these fields besides the length; return it, or the step that says why
    there is none. `tokens` is the length of one answer, under the name `parameter` or the chat's own;
    where a small window has no room for it, the chat's length, which fitted, is asked for instead."""
    samples = fields.get("n")
    cannot = unpayable(terms, name, tokens * (samples if isinstance(samples, int) else 1))
    if cannot is not None:
        return cannot
    allowed = terms.ask.seconds()
    url, length = chat_url(terms.spec.base_url), parameter or terms.parameter
    answer = await post(terms, url, {"messages": messages, length: tokens, **fields})
    if tokens > ANSWER_TOKENS and classify(answer.evidence).reason in NO_ROOM:
        answer = await post(terms, url, {"messages": messages, length: ANSWER_TOKENS, **fields})
    if read_completion(answer.got, answer.body) is None:
        return broken(terms, name, answer, allowed)
    return answer


def broken(terms: Terms, name: str, answer: Answer, allowed: float) -> Step:
    """Return the step of a question that failed; `allowed` is the seconds it had.

    A silence shorter than is fair says nothing of the endpoint, and a limited pace does not break the
    lane: the questions of a contract follow one another faster than an agent's.
    """
    failure = answer.got.failure
    if failure is not None and failure.kind is FailureKind.TIMEOUT and allowed < terms.fair_seconds:
        return _step(name, Status.NOT_TESTABLE, answer, Reason.DEADLINE_SPENT)
    say = {"status": status_text(answer)}
    step = broken_step(Rung.CHANNEL, name, terms.spec, answer.evidence, say, answer.tokens)
    return replace(step, status=Status.DEGRADED) if step.reason in PACE else step


def passed(name: str, answer: Answer, say: Mapping[str, str] | None = None) -> Step:
    """Return the step of a promise that was kept."""
    return _step(name, Status.OK, answer, None, say)


def worse(name: str, answer: Answer, reason: Reason, say: Mapping[str, str] | None = None) -> Step:
    """Return the step of an answer that most clients can live with, for a named reason."""
    return _step(name, Status.DEGRADED, answer, reason, say)


def unkept(name: str, answer: Answer, reason: Reason, say: Mapping[str, str] | None = None) -> Step:
    """Return the step of an answer of 200 that does not keep the promise."""
    return _step(name, Status.DOWN, answer, reason, say)


def status_text(answer: Answer) -> str:
    """The status as text; empty where no answer came."""
    return "" if answer.got.status is None else str(answer.got.status)


def first_choice(body: object) -> Mapping[str, object]:
    """The first choice of a completion; empty where there is none."""
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def usage_of(body: object, name: str) -> int | None:
    """A count of the answer's usage; None where the server does not give it."""
    usage = body.get("usage") if isinstance(body, Mapping) else None
    count = usage.get(name) if isinstance(usage, Mapping) else None
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def _step(
    name: str, status: Status, answer: Answer, reason: Reason | None, say: Mapping[str, str] | None = None
) -> Step:
    return Step(
        Rung.CHANNEL,
        name,
        status,
        reason,
        candidates=(reason,) if reason else (),
        say={"status": status_text(answer), **(say or {})},
        evidence=answer.evidence,
        duration_ms=answer.evidence.timings.total_ms,
        tokens=answer.tokens,
    )
