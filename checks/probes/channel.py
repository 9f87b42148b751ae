"""Rung 2: does the endpoint answer one small chat completion over plain HTTP, with this key and model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final

from checks.addresses import chat_url, models_url
from checks.egress import Exchange, evidence_of, exchange
from checks.keys import describe
from checks.outcome import Evidence, Rung, Status, Step
from checks.probes.asking import Ask, Found, broken_step
from checks.probes.completion import Completion, read_completion, read_json, tokens_spent
from checks.reason import Reason
from checks.spec import LaneSpec
from checks.verdict import classify

MODELS_SECONDS: Final = 3.0
MODELS_SHARE: Final = 0.2  # of the time left, kept back so that a silent chat leaves the list its turn
MAX_MODELS: Final = 200
MAX_MODEL_ID: Final = 200
ANSWER_TOKENS: Final = 256  # what a reasoning model needs to come to an answer
PROMPT: Final = "Reply with one short word."

OLD_NAME: Final = "max_tokens"
NEW_NAME: Final = "max_completion_tokens"


@dataclass(frozen=True, slots=True)
class ModelList:
    """What `GET models` said, as a step and as context for the verdict on the chat."""

    step: Step
    context: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Chat:
    """One chat request: what came of it, and the completion where there was one."""

    parameter: str
    evidence: Evidence
    completion: Completion | None
    tokens: int


async def channel(ask: Ask) -> Found:
    """Ask for one completion; where none comes, ask for the model list too, as supporting evidence.

    That the list is absent or refused breaks nothing, and a completion needs no support: it would only
    double what each pass costs both sides.
    """
    if not ask.spec.model:
        return Found((_not_asked(Reason.MODEL_MISSING),))
    if ask.tokens_left is not None and ask.tokens_left < ANSWER_TOKENS:
        return Found((_not_asked(Reason.BUDGET_SPENT),))
    parameter = ask.spec.token_parameter or OLD_NAME
    chat = await _chat(ask, parameter)
    if chat.completion is None and _refuses_name(chat):
        chat = await _chat(ask, OLD_NAME if parameter == NEW_NAME else NEW_NAME)
    if chat.completion is not None:
        return _passed(chat, chat.completion, ask.spec)
    return _broken(chat, await _list_models(ask), ask.spec)


async def _list_models(ask: Ask) -> ModelList:
    spec = ask.spec
    got = await exchange(
        "GET",
        models_url(spec.base_url),
        policy=spec.egress,
        deadline=ask.seconds(MODELS_SECONDS),
        headers=_headers(spec),
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
        evidence=_evidence(spec, got, {}, {}),
        duration_ms=got.timings.total_ms,
    )
    context: dict[str, object] = {} if got.status is None else {"models_status": got.status}
    return ModelList(step, context if ids is None else {**context, "models": ids})


async def _chat(ask: Ask, parameter: str) -> Chat:
    spec = ask.spec
    left = ask.seconds()
    params = {parameter: ANSWER_TOKENS}
    messages = [{"role": "user", "content": PROMPT}]
    got = await exchange(
        "POST",
        chat_url(spec.base_url),
        policy=spec.egress,
        deadline=max(left - MODELS_SECONDS, left * (1 - MODELS_SHARE)),
        headers={**_headers(spec), "content-type": "application/json"},
        content=json.dumps({"model": spec.model, "messages": messages, **params}).encode(),
        ca_file=spec.ca_file,
    )
    body = read_json(got)
    return Chat(
        parameter=parameter,
        evidence=_evidence(spec, got, params, _key_context(spec)),
        completion=read_completion(got, body),
        tokens=tokens_spent(body),
    )


def _passed(chat: Chat, completion: Completion, spec: LaneSpec) -> Found:
    milliseconds = chat.evidence.timings.total_ms
    step = Step(
        Rung.CHANNEL,
        "chat",
        Status.OK,
        say={
            "model": spec.model,
            "status": _text(chat.evidence.status),
            "answered_by": completion.model,
            "finish_reason": completion.finish_reason,
            "token_parameter": chat.parameter,
        },
        evidence=chat.evidence,
        duration_ms=milliseconds,
        tokens=chat.tokens,
    )
    if not completion.json_type:
        step = _wrongly_typed(step, chat.evidence)
    return Found((step,), milliseconds, chat.parameter)


def _broken(chat: Chat, listed: ModelList, spec: LaneSpec) -> Found:
    context = {**chat.evidence.context, **listed.context}
    say = {"model": spec.model, "status": _text(chat.evidence.status)}
    evidence = replace(chat.evidence, context=context)
    return Found((listed.step, broken_step(Rung.CHANNEL, "chat", spec, evidence, say, chat.tokens)))


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


def _refuses_name(chat: Chat) -> bool:
    """Tell whether the model wants the length field by its other name."""
    return classify(chat.evidence).reason is Reason.MAX_TOKENS_PARAM_UNSUPPORTED


def _not_asked(reason: Reason) -> Step:
    return Step(Rung.CHANNEL, "chat", Status.NOT_TESTABLE, reason)


def _headers(spec: LaneSpec) -> dict[str, str]:
    headers = {"accept": "application/json"}
    if spec.key:
        headers["authorization"] = f"Bearer {spec.key.reveal()}"
    return headers


def _key_context(spec: LaneSpec) -> dict[str, object]:
    """What may be told of the key."""
    if not spec.key:
        return {"authorization_header_sent": False}
    return {"authorization_header_sent": True, "key": asdict(describe(spec.key))}


def _evidence(
    spec: LaneSpec, got: Exchange, params: Mapping[str, object], context: Mapping[str, object]
) -> Evidence:
    return evidence_of(
        got, model=spec.model, params=params, lane=spec.lane, server=spec.kind, context=context
    )


def _model_ids(body: object) -> tuple[str, ...] | None:
    """The ids of an OpenAI-shaped list, at most 200; None for any other shape."""
    data = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(data, list):
        return None
    ids = [entry.get("id") for entry in data[:MAX_MODELS] if isinstance(entry, Mapping)]
    return tuple(name[:MAX_MODEL_ID] for name in ids if isinstance(name, str))


def _text(status: int | None) -> str:
    return "" if status is None else str(status)
