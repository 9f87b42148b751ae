"""One small chat completion over plain HTTP: the question that the steps of the channel rung share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from checks.addresses import chat_url
from checks.egress import Exchange, evidence_of, exchange
from checks.keys import describe
from checks.outcome import Evidence
from checks.probes.completion import Completion, read_completion, read_json, tokens_spent
from checks.spec import LaneSpec

ANSWER_TOKENS: Final = 256  # what a reasoning model needs to come to an answer
PROMPT: Final = "Reply with one short word."

OLD_NAME: Final = "max_tokens"
NEW_NAME: Final = "max_completion_tokens"


@dataclass(frozen=True, slots=True)
class Chat:
    """One chat request: what came of it, and the completion where there was one."""

    parameter: str
    evidence: Evidence
    completion: Completion | None
    tokens: int


async def chat(spec: LaneSpec, parameter: str, *, seconds: float, length: int = ANSWER_TOKENS) -> Chat:
    """Ask the base URL of `spec` once, with its key and model, for an answer of at most `length` tokens
    under the name `parameter`; never raises but on cancellation."""
    params = {parameter: length}
    messages = [{"role": "user", "content": PROMPT}]
    got = await exchange(
        "POST",
        chat_url(spec.base_url),
        policy=spec.egress,
        deadline=seconds,
        headers={**lane_headers(spec), "content-type": "application/json"},
        content=json.dumps({"model": spec.model, "messages": messages, **params}).encode(),
        ca_file=spec.ca_file,
    )
    body = read_json(got)
    return Chat(
        parameter=parameter,
        evidence=lane_evidence(spec, got, params, key_context(spec)),
        completion=read_completion(got, body),
        tokens=tokens_spent(body),
    )


def lane_headers(spec: LaneSpec) -> dict[str, str]:
    """Return what each request of this lane carries."""
    sent = {"accept": "application/json"}
    if spec.key:
        sent["authorization"] = f"Bearer {spec.key.reveal()}"
    return sent


def key_context(spec: LaneSpec) -> dict[str, object]:
    """Return what may be told of the key."""
    if not spec.key:
        return {"authorization_header_sent": False}
    return {"authorization_header_sent": True, "key": asdict(describe(spec.key))}


def lane_evidence(
    spec: LaneSpec, got: Exchange, params: Mapping[str, object], context: Mapping[str, object]
) -> Evidence:
    """Return an exchange of this lane as evidence."""
    return evidence_of(
        got, model=spec.model, params=params, lane=spec.lane, server=spec.kind, context=context
    )
