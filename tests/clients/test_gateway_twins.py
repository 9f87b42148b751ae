"""The simulated gateway answers as the real one does: the same requests, the same statuses and shapes."""

from __future__ import annotations

import httpx
import pytest

from checks.simulator import serve
from tests.clients.agl import KEY, MODEL, Gateway

pytestmark = pytest.mark.clients

CHAT = {"model": "auto", "messages": [{"role": "user", "content": "Hello."}]}
REWARD = {"event_type": "reward", "data": {"value": 1.0}}
ROLLOUT = "/proxy/rollout/twin/attempt/0/mode"
SCRIPT: tuple[tuple[str, str, object], ...] = (
    ("GET", "/healthz", None),
    ("GET", "/health", None),
    ("GET", "/proxy/state", None),
    ("GET", "/api/rollouts/twin", None),
    ("POST", f"{ROLLOUT}/train/openai/v1/chat/completions", CHAT),
    ("POST", "/api/rollouts", [{"rollout_id": "twin", "input": {"question": "?"}, "is_train": True}]),
    ("POST", "/api/rollouts", [{"rollout_id": "twin", "input": {}}]),
    ("GET", "/api/rollouts?state_in=queuing&state_in=running&limit=1", None),
    ("POST", f"{ROLLOUT}/train/openai/v1/chat/completions", CHAT),
    ("POST", f"{ROLLOUT}/val/openai/v1/chat/completions", CHAT | {"stream": True}),
    ("POST", f"{ROLLOUT}/val/openai/v1/embeddings", CHAT),
    ("GET", f"{ROLLOUT}/val/openai/v1/models", None),
    ("POST", "/api/rollouts/twin/attempt/0/events", REWARD),
    ("GET", "/api/rollouts/twin/events", None),
    ("GET", "/api/rollouts/twin/events?format=triplet", None),
    ("GET", "/api/rollouts/twin", None),
    ("POST", "/proxy/pause", {"reason": "weights"}),
    ("POST", f"{ROLLOUT}/val/openai/v1/chat/completions", CHAT),
    ("POST", "/proxy/resume", None),
    ("GET", "/api/models", None),
    ("DELETE", "/api/rollouts/twin", None),
    ("DELETE", "/api/rollouts/twin", None),
    ("GET", "/api/rollouts/twin/events", None),
    ("DELETE", "/api/models", None),
    ("POST", "/api/rollouts", [{"rollout_id": "twin", "input": {}}]),
    ("POST", f"{ROLLOUT}/val/openai/v1/chat/completions", CHAT),
    ("DELETE", "/api/rollouts/twin", None),
)
# What the stand-in leaves out of an event, and the engine's own fields of a completion.
UNPLAYED = {"finish_reason", "routed_experts", "stop_reason"}


def transcript(origin: str, key: str) -> list[tuple[str, int, object]]:
    headers = {"authorization": f"Bearer {key}"}
    said = []
    for method, path, document in SCRIPT:
        answer = httpx.request(method, origin + path, json=document, headers=headers, trust_env=False)
        body = answer.json() if answer.content else None
        said.append((f"{method} {path}", answer.status_code, shape(body)))
    return said


def shape(value: object) -> object:
    """Names of fields and types of values, with the words of a refusal."""
    if isinstance(value, dict):
        return {
            name: part if name in ("detail", "error", "event_type", "paused") else shape(part)
            for name, part in value.items()
            if name not in UNPLAYED
        }
    if isinstance(value, list):
        return [shape(one) for one in value[:2]] if value and isinstance(value[0], dict) else bool(value)
    return type(value).__name__ if value is not None else None


def test_both_answer_the_same_script_alike(gateway: Gateway) -> None:
    with serve("vllm", models=(MODEL,)) as server, serve("agl-gateway", key=KEY, models=(MODEL,)) as played:
        gateway.serve_from(server.base_url)
        real, simulated = transcript(gateway.origin, KEY), transcript(played.origin, KEY)
    for one, other in zip(real, simulated, strict=True):
        assert other == one


@pytest.mark.parametrize("key", ["", "agl-wrong"])
def test_both_refuse_a_wrong_key_alike(gateway: Gateway, key: str) -> None:
    with serve("agl-gateway", key=KEY) as played:
        answers = [
            httpx.get(f"{origin}/proxy/state", headers={"x-api-key": key}, trust_env=False)
            for origin in (gateway.origin, played.origin)
        ]
    assert answers[0].json() == answers[1].json()
    assert [answer.status_code for answer in answers] == [401, 401]
