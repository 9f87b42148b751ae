"""Bundles for tests: a relay for the agent, another for the replay, a server of one's own for the rollout."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from checks.outcome import Status
from checks.spec import EndpointKind, LaneKind, Masked
from panel.exports.bundle import Bundle, BundleLane, Generation, Proof

AGENT_KEY = "sk-canary-agent-0001"
REPLAY_KEY = "sk-canary-replay-0002"
ROLLOUT_KEY = "sk-canary-rollout-0003"
PROOF = Proof("k3mz9xw2pq", Status.OK, datetime(2026, 11, 30, 6, 25, tzinfo=UTC))

AGENT = BundleLane(
    LaneKind.AGENT,
    base_url="https://relay.example/v1",
    model="deepseek-v3.2",
    endpoint_name="Relay",
    endpoint_kind=EndpointKind.OPENAI,
    needs_key=True,
    key_name="v3",
    key=Masked(AGENT_KEY),
    proof=PROOF,
)
REPLAY = replace(
    AGENT,
    kind=LaneKind.REPLAY,
    base_url="https://other.example/api/v1",
    model="Qwen/Qwen2.5-7B-Instruct",
    endpoint_name="Other",
    key_name="v1",
    key=Masked(REPLAY_KEY),
)
ROLLOUT = BundleLane(
    LaneKind.ROLLOUT,
    base_url="http://gpu-a12:8000/v1",
    model="Qwen/Qwen3-8B",
    endpoint_name="Own vLLM",
    endpoint_kind=EndpointKind.VLLM,
    needs_key=False,
    proof=PROOF,
)
GATEWAY = replace(
    AGENT,
    base_url="http://10.0.0.7:8080",
    model=ROLLOUT.model,
    endpoint_name="Gate",
    endpoint_kind=EndpointKind.GATEWAY,
)


def make_bundle(
    *lanes: BundleLane, generation: Generation = "0.x", with_keys: bool = True, profile: str = "search-agent"
) -> Bundle:
    """A bundle of those lanes; of the agent's alone when none is given."""
    return Bundle(
        team="Atlas",
        profile=profile,
        code="b2c3d4f5",
        version=31,
        generation=generation,
        lanes=lanes or (AGENT,),
        made_at=datetime(2026, 11, 30, 14, 30, tzinfo=timezone(timedelta(hours=8))),
        with_keys=with_keys,
    )
