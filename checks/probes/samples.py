"""Rung 5 on an endpoint: a few prompts sampled as training would, with ids, log-probabilities and rewards."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from checks.addresses import chat_url
from checks.outcome import Rung, Status, Step
from checks.probes.asking import Ask, broken_step
from checks.probes.chat import OLD_NAME
from checks.probes.completion import read_completion
from checks.probes.contracts.question import PACE, PROMPT_ROOM, Answer, Terms, first_choice, post, usage_of
from checks.probes.contracts.rollout import flaw_of, shape_of
from checks.probes.sums import SUMS, messages, reward
from checks.reason import Reason
from checks.spec import Recipe
from checks.verdict import classify

MAX_PROMPTS: Final = len(SUMS)
MAX_SAMPLES: Final = 8
AT_ONCE: Final = 4
MOST_TOKENS: Final = 1024  # of one sample, whatever the profile allows: a sum needs no more
LEAST_TOKENS: Final = 16
LEAST_SECONDS: Final = 1.0
WARM_TOKENS: Final = 1
MOSTLY: Final = 0.5  # share of cut samples above which the length is at fault
ASKED: Final = {"return_token_ids": True, "logprobs": True, "temperature": 1}
NAME: Final = "dry_samples"


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer to one question; `question` is its place in the task."""

    question: int
    answer: Answer

    @property
    def choice(self) -> Mapping[str, object]:
        """The one choice of the answer; empty where none came."""
        return first_choice(self.answer.body)

    @property
    def passed(self) -> bool:
        """Whether a completion came."""
        return read_completion(self.answer.got, self.answer.body) is not None

    @property
    def text(self) -> str:
        """What the model said; empty where it said nothing."""
        message = self.choice.get("message")
        content = message.get("content") if isinstance(message, Mapping) else None
        return content if isinstance(content, str) else ""

    def ids(self, name: str) -> int:
        """How many token ids came: "prompt_token_ids" or "token_ids"."""
        held = self.answer.body if name == "prompt_token_ids" else self.choice
        ids = held.get(name) if isinstance(held, Mapping) else None
        return len(ids) if isinstance(ids, list) else 0


async def samples(ask: Ask) -> tuple[Step, ...]:
    """Draw the recipe's prompts times samples from the endpoint; return "dry_samples" and "dry_reward".

    No weight is touched: these are plain completions at temperature 1, one a call, as a gateway sends them.
    "dry_samples" says tokens per second, the time to the first token in milliseconds (measured by a call of
    one token before the others), lengths and cut answers; "dry_reward" the rewards of the reference task.
    """
    plan = _Plan.of(ask)
    if ask.tokens_left is not None and plan.cost > ask.tokens_left:
        return _unasked(ask, Reason.BUDGET_SPENT, {"cost": str(plan.cost)})
    if ask.seconds() < LEAST_SECONDS:
        return _unasked(ask, Reason.DEADLINE_SPENT, {})
    terms = Terms(ask, ask.spec.token_parameter or OLD_NAME, 0.0, 0)
    first = await _draw(terms, 0, WARM_TOKENS)
    if not first.passed:
        return _failed(ask, first, (first,))
    begun = monotonic()
    drawn = await _drawn(terms, plan)
    seconds = monotonic() - begun
    return _judged(ask, plan, first, drawn, seconds)


def cost_of(recipe: Recipe, response_length: int | None) -> int:
    """Return the most tokens that `samples` may spend with this recipe."""
    return _Plan.made(recipe, response_length, None).cost


@dataclass(frozen=True, slots=True)
class _Plan:
    """How many prompts, samples of each, and tokens of one."""

    prompts: int
    samples: int
    length: int

    @classmethod
    def of(cls, ask: Ask) -> _Plan:
        return cls.made(ask.spec.recipe or Recipe(), ask.spec.response_length, ask.tokens_left)

    @classmethod
    def made(cls, recipe: Recipe, response_length: int | None, budget: int | None) -> _Plan:
        prompts = max(1, min(recipe.prompts, MAX_PROMPTS))
        each = max(1, min(recipe.samples, MAX_SAMPLES))
        length = max(1, min(response_length or MOST_TOKENS, MOST_TOKENS))
        if budget is not None:
            share = (budget - WARM_TOKENS - PROMPT_ROOM) // (prompts * each) - PROMPT_ROOM
            length = max(min(length, LEAST_TOKENS), min(length, share))
        return cls(prompts, each, length)

    @property
    def cost(self) -> int:
        """The most that it spends, in tokens."""
        return self.prompts * self.samples * (self.length + PROMPT_ROOM) + WARM_TOKENS + PROMPT_ROOM


async def _draw(terms: Terms, question: int, length: int) -> Sample:
    fields = {**ASKED, "messages": messages(SUMS[question][0]), terms.parameter: length}
    return Sample(question, await post(terms, chat_url(terms.spec.base_url), fields))


async def _drawn(terms: Terms, plan: _Plan) -> tuple[Sample, ...]:
    """All samples, a few at once; what the time no longer allows is left out."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(question: int) -> Sample | None:
        async with gate:
            if terms.ask.seconds() < LEAST_SECONDS:
                return None
            return await _draw(terms, question, plan.length)

    asked = [question for question in range(plan.prompts) for _ in range(plan.samples)]
    found = await asyncio.gather(*(one(question) for question in asked))
    return tuple(sample for sample in found if sample is not None)


def _judged(
    ask: Ask, plan: _Plan, first: Sample, drawn: Sequence[Sample], seconds: float
) -> tuple[Step, ...]:
    """The worst that the samples show decides; the rewards are a step of their own."""
    good = [sample for sample in drawn if sample.passed]
    spent = sum(sample.answer.tokens for sample in (first, *drawn))
    if not good:
        return _failed(ask, drawn[0], (first, *drawn)) if drawn else _late(ask, spent)
    say = {**_told(plan, drawn, good, seconds), "ttft_ms": f"{first.answer.evidence.timings.total_ms:.0f}"}
    worst = next(_flaws(ask, plan, drawn, good), None)
    step = _step(ask, NAME, Status.OK, None, say, good[0], spent) if worst is None else worst
    step = replace(step, say={**say, **step.say}, tokens=spent, duration_ms=seconds * 1000)
    return (step, _rewarded(ask, good) if step.status is not Status.DOWN else _not_reached(ask))


def _flaws(ask: Ask, plan: _Plan, drawn: Sequence[Sample], good: Sequence[Sample]) -> Iterator[Step]:
    """What is wrong, worst first: what no trainer can use, then what some samples lack."""
    for sample in good:
        shape = shape_of(sample.answer.body)
        if shape != "vllm":
            reason = Reason.TOKEN_IDS_MISSING
            yield _step(ask, NAME, Status.DOWN, reason, {"shape": shape}, sample)
    for sample in good:
        flaw = flaw_of(sample.answer.body)
        if flaw:
            yield _step(ask, NAME, Status.DOWN, Reason.LOGPROBS_UNSUPPORTED, {"flaw": flaw}, sample)
    for sample in drawn:
        if not sample.passed:
            yield replace(_failed(ask, sample, ())[0], status=Status.DEGRADED)
    yield from _length_flaws(ask, plan, good)


def _length_flaws(ask: Ask, plan: _Plan, good: Sequence[Sample]) -> Iterator[Step]:
    """Prompts or answers longer than the profile, or our request, allows; answers that are mostly cut."""
    room = ask.spec.prompt_length
    longest = max(good, key=lambda sample: sample.ids("prompt_token_ids"))
    if room is not None and longest.ids("prompt_token_ids") > room:
        say = {"prompt_length": str(room)}
        yield _step(ask, NAME, Status.DEGRADED, Reason.CONTEXT_LENGTH_EXCEEDED, say, longest)
    longest = max(good, key=lambda sample: sample.ids("token_ids"))
    if longest.ids("token_ids") > plan.length:
        say = {"asked": str(plan.length)}
        yield _step(ask, NAME, Status.DEGRADED, Reason.OUTPUT_TOKENS_OUT_OF_RANGE, say, longest)
    cut = [sample for sample in good if _is_cut(sample)]
    if len(cut) > MOSTLY * len(good):
        yield _step(ask, NAME, Status.DEGRADED, Reason.SAMPLES_TRUNCATED, {}, cut[0])


def _told(plan: _Plan, drawn: Sequence[Sample], good: Sequence[Sample], seconds: float) -> dict[str, str]:
    """Counts, lengths and pace, for the page."""
    lengths = [usage_of(one.answer.body, "completion_tokens") or one.ids("token_ids") for one in good]
    return {
        "prompts": str(plan.prompts),
        "samples": str(plan.samples),
        "asked": str(len(drawn)),
        "passed": str(len(good)),
        "length": str(plan.length),
        "longest_prompt": str(max(one.ids("prompt_token_ids") for one in good)),
        "longest_answer": str(max(lengths)),
        "cut": str(sum(_is_cut(one) for one in good)),
        "tokens_per_second": f"{sum(lengths) / max(seconds, 0.001):.1f}",
        "identical": "yes" if _are_identical(good) else "no",
    }


def _is_cut(sample: Sample) -> bool:
    return sample.choice.get("finish_reason") == "length"


def _are_identical(good: Sequence[Sample]) -> bool:
    """Whether each prompt that was asked more than once got the same answer each time, at temperature 1."""
    texts: dict[int, list[str]] = {}
    for sample in good:
        texts.setdefault(sample.question, []).append(sample.text)
    repeated = [said for said in texts.values() if len(said) > 1]
    return bool(repeated) and all(len(set(said)) == 1 for said in repeated)


def _rewarded(ask: Ask, good: Sequence[Sample]) -> Step:
    """Rewards of the reference task; none at all where no sample says anything."""
    spoken = [sample for sample in good if sample.text.strip()]
    if not spoken:
        return _step(ask, "dry_reward", Status.DEGRADED, Reason.REWARD_MISSING, {"rewards": "0"}, good[0])
    rewards = [reward(sample.text, SUMS[sample.question][1]) for sample in spoken]
    say = {"rewards": str(len(rewards)), "mean": f"{sum(rewards) / len(rewards):.2f}"}
    say["spread"] = "yes" if len(set(rewards)) > 1 else "no"
    return _step(ask, "dry_reward", Status.OK, None, say)


def _failed(ask: Ask, sample: Sample, asked: Sequence[Sample]) -> tuple[Step, ...]:
    """The step of a refused sample, with the verdict on it; a limited pace is no fault of the lane."""
    evidence = sample.answer.evidence
    say = {"status": "" if sample.answer.got.status is None else str(sample.answer.got.status)}
    tokens = sum(one.answer.tokens for one in asked)
    step = replace(broken_step(Rung.ROLLOUT, NAME, ask.spec, evidence, say, tokens), place=ask.spec.place)
    if classify(evidence).reason in PACE:
        step = replace(step, status=Status.DEGRADED)
    return (step, _not_reached(ask))


def _unasked(ask: Ask, reason: Reason, say: Mapping[str, str]) -> tuple[Step, ...]:
    return (_step(ask, NAME, Status.NOT_TESTABLE, reason, say), _not_reached(ask))


def _late(ask: Ask, spent: int) -> tuple[Step, ...]:
    return (_step(ask, NAME, Status.NOT_TESTABLE, Reason.DEADLINE_SPENT, {}, None, spent), _not_reached(ask))


def _not_reached(ask: Ask) -> Step:
    return _step(ask, "dry_reward", Status.NOT_REACHED, None, {})


def _step(
    ask: Ask,
    name: str,
    status: Status,
    reason: Reason | None,
    say: Mapping[str, str],
    sample: Sample | None = None,
    tokens: int = 0,
) -> Step:
    return Step(
        Rung.ROLLOUT,
        name,
        status,
        reason,
        candidates=(reason,) if reason else (),
        say=say,
        evidence=sample.answer.evidence if sample else None,
        tokens=tokens,
        place=ask.spec.place,
    )
