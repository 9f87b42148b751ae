"""Rung 2: does the endpoint answer one small chat completion over plain HTTP, with this key and model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from checks.addresses import models_url
from checks.egress import exchange
from checks.outcome import Evidence, Rung, Status, Step
from checks.probes.asking import Ask, Found, broken_step
from checks.probes.chat import ANSWER_TOKENS, NEW_NAME, OLD_NAME, Chat, chat, lane_evidence, lane_headers
from checks.probes.completion import Completion, read_json
from checks.reason import Reason
from checks.spec import LaneSpec
from checks.verdict import classify

MODELS_SECONDS: Final = 3.0
MODELS_SHARE: Final = 0.2  # of the time left, kept back so that a silent chat leaves the list its turn
MAX_MODELS: Final = 200
MAX_MODEL_ID: Final = 200


@dataclass(frozen=True, slots=True)
class ModelList:
    """What `GET models` said, as a step and as context for the verdict on the chat."""

    step: Step
    context: Mapping[str, object]


async def channel(ask: Ask) -> Found:
    """Ask for one completion; where none comes, ask for the model list too, as supporting evidence.

    That the list is absent or refused breaks nothing, and a completion needs no support: it would only
    double what each pass costs both sides.
    """
    if not ask.spec.model:
        return Found((_not_asked(Reason.MODEL_MISSING),))
    if ask.tokens_left is not None and ask.tokens_left < ANSWER_TOKENS:
        return Found((_not_asked(Reason.BUDGET_SPENT),))
    asked = await _chat(ask)
    if asked.completion is not None:
        return _passed(asked, asked.completion, ask.spec)
    return _broken(asked, await _list_models(ask), ask.spec)


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


def _broken(asked: Chat, listed: ModelList, spec: LaneSpec) -> Found:
    context = {**asked.evidence.context, **listed.context}
    say = {"model": spec.model, "status": _text(asked.evidence.status)}
    evidence = replace(asked.evidence, context=context)
    return Found((listed.step, broken_step(Rung.CHANNEL, "chat", spec, evidence, say, asked.tokens)))


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
