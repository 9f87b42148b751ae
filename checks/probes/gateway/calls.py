"""One call through a rollout's proxy, and whose fault it was where it failed.

The gateway records what the model server answered and passes it on; what it could not deliver it answers
itself and does not record (1.0.2). A recorded failure is therefore judged as the model server's own answer to
a caller without a key, since the gateway sends none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from checks.addresses import chat_url
from checks.egress import Exchange
from checks.gateway_urls import proxy_path, rollout_path
from checks.outcome import Evidence, Rung, Status, Step
from checks.probes.asking import Ask, broken_step
from checks.probes.chat import OLD_NAME, PROMPT
from checks.probes.completion import read_completion, read_json, tokens_spent
from checks.probes.gateway.door import Door, objects_of
from checks.probes.gateway.rollouts import GatewayRollout
from checks.probes.gateway.triplets import Event, failed_call

CALL_SECONDS: Final = 90.0  # the gateway tries six times before it gives up, some 16 s without an answer
ANSWER_TOKENS: Final = 64  # ids and log-probabilities show in a cut answer as well
UPSTREAM_SHOWN: Final = 300
BODY_KEPT: Final = 8_192


@dataclass(frozen=True, slots=True)
class Called:
    """A call's step, and whether it brought a completion."""

    step: Step
    passed: bool


async def call(ask: Ask, door: Door, rollout: GatewayRollout, name: str) -> Called:
    """Ask for one short completion as an agent of that rollout would, and name what is in its way."""
    length = ask.spec.token_parameter or OLD_NAME
    document = {
        "model": ask.spec.model or "auto",
        "messages": [{"role": "user", "content": PROMPT}],
        length: ANSWER_TOKENS,
    }
    path = proxy_path(rollout.id, rollout.purpose.mode) + "/chat/completions"
    got = await door.send("POST", path, document, seconds=ask.seconds(CALL_SECONDS))
    body = read_json(got)
    completion = read_completion(got, body)
    say = {"mode": rollout.purpose.mode, "status": "" if got.status is None else str(got.status)}
    if completion is None:
        evidence, more = await _whose_fault(door, rollout.id, got)
        step = broken_step(Rung.ROLLOUT, name, ask.spec, evidence, say | more, tokens_spent(body))
        return Called(replace(step, duration_ms=got.timings.total_ms), passed=False)
    say |= {"model": completion.model, "finish_reason": completion.finish_reason}
    step = Step(
        Rung.ROLLOUT,
        name,
        Status.OK,
        say={key: text for key, text in say.items() if text},
        evidence=door.evidence(got, through_gateway=True),
        duration_ms=got.timings.total_ms,
        tokens=tokens_spent(body),
    )
    return Called(step, passed=True)


async def _whose_fault(door: Door, rollout: str, got: Exchange) -> tuple[Evidence, dict[str, str]]:
    refused = failed_call(objects_of(await door.send("GET", f"{rollout_path(rollout)}/events")))
    if refused is None:
        return door.evidence(got, through_gateway=True), {}
    return upstream_evidence(door, refused)


def upstream_evidence(door: Door, refused: Event) -> tuple[Evidence, dict[str, str]]:
    """Return a recorded failure as the model server's answer, and the server's address for the sentence.

    A trimmed event ("format=triplet") names no address and of the body the error alone.
    """
    status, server = refused.get("http_status"), refused.get("server")
    address = server.get("endpoint") if isinstance(server, Mapping) else None
    upstream = address[:UPSTREAM_SHOWN].rstrip("/") if isinstance(address, str) else ""
    answer = refused.get("response")
    if answer is None and "error" in refused:
        answer = {"error": refused["error"]}
    evidence = Evidence(
        url=chat_url(upstream) if upstream else "",
        model=str(server.get("model") or "")[:UPSTREAM_SHOWN] if isinstance(server, Mapping) else "",
        lane=door.spec.lane,
        status=status if isinstance(status, int) else None,
        headers={"content-type": "application/json"},
        body=json.dumps(answer or {})[:BODY_KEPT],
        context={"called_by_gateway": True, "authorization_header_sent": False},
    )
    return evidence, {"upstream": upstream} if upstream else {}
