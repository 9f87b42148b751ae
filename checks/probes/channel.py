"""Rung 2: does the endpoint answer one small chat completion over plain HTTP, with this key and model."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from checks.addresses import models_url
from checks.egress import exchange
from checks.outcome import Evidence, Rung, Status, Step
from checks.probes.asking import Ask, Found, broken_step
from checks.probes.candidates import search
from checks.probes.chat import ANSWER_TOKENS, NEW_NAME, OLD_NAME, Chat, chat, lane_evidence, lane_headers
from checks.probes.completion import Completion, read_json
from checks.probes.negative import negative
from checks.probes.wedge import Readings, is_engine, is_silent, look, read_again, watched
from checks.reason import Reason
from checks.spec import LaneSpec
from checks.verdict import classify

MODELS_SECONDS: Final = 3.0
MODELS_SHARE: Final = 0.2  # of the time left, kept back so that a silent chat leaves the list its turn
MAX_MODELS: Final = 200
MAX_MODEL_ID: Final = 200
NEAR_IDS: Final = 3
NEAR_ENOUGH: Final = 0.5  # difflib's ratio
WATCHED_FROM: Final = 1 / 3  # of the chat's time; an engine silent for that long is looked at meanwhile
PASSING_LAYERS: Final = frozenset({"server", "gateway", "rate"})  # what the next moment may mend
REPEAT_AFTER: Final = 0.5  # seconds
REPEAT_SHARE: Final = 0.25  # of the time left, when that is less


@dataclass(frozen=True, slots=True)
class ModelList:
    """What `GET models` said, as a step and as context for the verdict on the chat."""

    step: Step
    context: Mapping[str, object]


async def channel(ask: Ask) -> Found:
    """Ask for one completion; where none comes, ask for the model list too, as supporting evidence, and
    follow up what the failure leaves open.

    That the list is absent or refused breaks nothing, and a completion needs no support: it would only
    double what each pass costs both sides.
    """
    if not ask.spec.model:
        return Found((_not_asked(Reason.MODEL_MISSING),))
    if not ask.affords(ANSWER_TOKENS):
        return Found((_not_asked(Reason.BUDGET_SPENT),))
    asked, early = await watched(ask.spec, _chat(ask), _chat_seconds(ask) * WATCHED_FROM)
    if asked.completion is not None:
        return await _with_negative(ask, _passed(asked, asked.completion, ask.spec))
    listed, late = await asyncio.gather(_list_models(ask), read_again(ask, early))
    return await _followed(ask.after(asked.tokens), asked, listed, (early, late))


async def _chat(ask: Ask) -> Chat:
    """Ask; once more by the other name of the length field where the model refuses the first."""
    parameter = ask.spec.token_parameter or OLD_NAME
    asked = await chat(ask.spec, parameter, seconds=_chat_seconds(ask))
    if asked.completion is None and _refuses_name(asked):
        other = OLD_NAME if parameter == NEW_NAME else NEW_NAME
        asked = await chat(ask.spec, other, seconds=_chat_seconds(ask))
    return asked


def _chat_seconds(ask: Ask) -> float:
    left = ask.seconds()
    return max(left - MODELS_SECONDS, left * (1 - MODELS_SHARE))


async def _with_negative(ask: Ask, found: Found) -> Found:
    """Go on to what must be refused, where the lane asks for it."""
    if not ask.spec.negative:
        return found
    spent = sum(step.tokens for step in found.steps)
    step = await negative(ask.after(spent), found.token_parameter or OLD_NAME)
    return found if step is None else replace(found, steps=(*found.steps, step))


async def _followed(ask: Ask, asked: Chat, listed: ModelList, readings: Readings) -> Found:
    """Follow up a chat that failed: neighbours of a wrong path, the state of a silent engine, one more
    try of what may pass by itself."""
    context = {**asked.evidence.context, **listed.context}
    failed = replace(asked, evidence=replace(asked.evidence, context=context))
    reason = classify(failed.evidence).reason
    if reason.layer == "path":
        return await _among_neighbours(ask, failed, listed)
    if is_silent(failed.evidence) and is_engine(ask.spec, listed.step.evidence):
        looked = await look(ask, readings, listed.step.status is Status.OK)
        told = _with_context(failed, engine_state=looked.say["engine"])
        return Found((listed.step, _broken(told, ask.spec), looked))
    if ask.spec.repeat and (reason.layer in PASSING_LAYERS or reason is Reason.CONNECTION_RESET):
        return await _repeated(ask, failed, listed)
    return Found((listed.step, _broken(failed, ask.spec)))


async def _among_neighbours(ask: Ask, failed: Chat, listed: ModelList) -> Found:
    searched = await search(ask, failed.evidence, failed.parameter)
    told = _with_context(failed, siblings=searched.siblings)
    steps = (listed.step, _broken(told, ask.spec), searched.step)
    return Found(steps, offered_base_url=searched.base_url)


async def _repeated(ask: Ask, failed: Chat, listed: ModelList) -> Found:
    """Ask the same once more: an endpoint that then answers is unsteady, not down."""
    broken = _broken(failed, ask.spec)
    await asyncio.sleep(min(REPEAT_AFTER, ask.seconds() * REPEAT_SHARE))
    if not ask.affords(ANSWER_TOKENS):
        return Found((listed.step, broken))
    again = await chat(ask.spec, failed.parameter, seconds=ask.seconds())
    tokens = broken.tokens + again.tokens
    if again.completion is None:
        say = {**broken.say, "repeated": "2 of 2", "again": str(classify(again.evidence).reason)}
        return Found((listed.step, replace(broken, say=say, tokens=tokens)))
    say = {**broken.say, "flapping": "1 of 2"}
    unsteady = replace(broken, status=Status.DEGRADED, say=say, tokens=tokens)
    return Found((listed.step, unsteady), again.evidence.timings.total_ms, again.parameter)


def _with_context(asked: Chat, **facts: object) -> Chat:
    context = {**asked.evidence.context, **facts}
    return replace(asked, evidence=replace(asked.evidence, context=context))


async def _list_models(ask: Ask) -> ModelList:
    spec = ask.spec
    got = await exchange(
        "GET",
        models_url(spec.base_url),
        policy=spec.egress,
        deadline=ask.seconds(MODELS_SECONDS),
        headers=lane_headers(spec),
        ca_file=spec.ca_file,
    )
    ids = _model_ids(read_json(got))
    say = {} if got.status is None else {"status": str(got.status)}
    if ids is not None:
        say["count"] = str(len(ids))
    step = Step(
        Rung.CHANNEL,
        "models",
        Status.NOT_TESTABLE if ids is None else Status.OK,
        say=say,
        evidence=lane_evidence(spec, got, {}, {}),
        duration_ms=got.timings.total_ms,
    )
    context: dict[str, object] = {} if got.status is None else {"models_status": got.status}
    return ModelList(step, context if ids is None else {**context, "models": ids})


def _passed(asked: Chat, completion: Completion, spec: LaneSpec) -> Found:
    milliseconds = asked.evidence.timings.total_ms
    step = Step(
        Rung.CHANNEL,
        "chat",
        Status.OK,
        say={
            "model": spec.model,
            "status": _text(asked.evidence.status),
            "answered_by": completion.model,
            "finish_reason": completion.finish_reason,
            "token_parameter": asked.parameter,
        },
        evidence=asked.evidence,
        duration_ms=milliseconds,
        tokens=asked.tokens,
    )
    if not completion.json_type:
        step = _wrongly_typed(step, asked.evidence)
    return Found((step,), milliseconds, asked.parameter)


def _broken(asked: Chat, spec: LaneSpec) -> Step:
    say = {"model": spec.model, "status": _text(asked.evidence.status)}
    step = broken_step(Rung.CHANNEL, "chat", spec, asked.evidence, say, asked.tokens)
    listed = asked.evidence.context.get("models")
    if step.reason is None or step.reason.layer != "model" or not isinstance(listed, tuple):
        return step
    return replace(step, say={**step.say, "near": ", ".join(nearest(spec.model, listed))})


def nearest(model: str, listed: Sequence[str]) -> list[str]:
    """Return up to three listed ids that a person may have meant: the same but for case or prefix first,
    then those spelled alike."""
    bare = model.lower().rpartition("/")[2]
    same = [name for name in listed if name.lower().rpartition("/")[2] == bare]
    alike = difflib.get_close_matches(model, listed, NEAR_IDS, NEAR_ENOUGH)
    return list(dict.fromkeys(same + alike))[:NEAR_IDS]


def _wrongly_typed(step: Step, evidence: Evidence) -> Step:
    """A completion that does not call itself JSON: Python's clients read it, Node's and the gateway
    do not."""
    verdict = classify(evidence)
    named = verdict.reason is not Reason.UNEXPLAINED
    return replace(
        step,
        status=Status.DEGRADED,
        reason=verdict.reason if named else Reason.STREAM_FRAMING_MISMATCH,
        candidates=verdict.candidates if named else (),
        say={**step.say, "content_type": evidence.headers.get("content-type", "")},
    )


def _refuses_name(asked: Chat) -> bool:
    """Tell whether the model wants the length field by its other name."""
    return classify(asked.evidence).reason is Reason.MAX_TOKENS_PARAM_UNSUPPORTED


def _not_asked(reason: Reason) -> Step:
    return Step(Rung.CHANNEL, "chat", Status.NOT_TESTABLE, reason)


def _model_ids(body: object) -> tuple[str, ...] | None:
    """The ids of an OpenAI-shaped list, at most 200; None for any other shape."""
    data = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(data, list):
        return None
    ids = [entry.get("id") for entry in data[:MAX_MODELS] if isinstance(entry, Mapping)]
    return tuple(name[:MAX_MODEL_ID] for name in ids if isinstance(name, str))


def _text(status: int | None) -> str:
    return "" if status is None else str(status)
