"""The tables of a TOML bundle: what each lane calls, and the name of the variable that holds its key."""

from __future__ import annotations

from checks.dialects import Block, Entry
from checks.spec import LaneKind
from panel.exports.bundle import Bundle, BundleLane
from panel.exports.variables import AGENT_KEY, GATEWAY_KEY, REPLAY_KEY, litellm_model

ROLLOUT_KEY = "PREFLIGHT_ROLLOUT_API_KEY"


def table_blocks(bundle: Bundle) -> tuple[Block, ...]:
    """One table a lane: `[llm]`, `[replay]` (in 1.x `[upstream]`, which the gateway calls), `[rollout]`."""
    return tuple(_table(bundle, lane) for lane in bundle.lanes)


def _table(bundle: Bundle, lane: BundleLane) -> Block:
    entries = [Entry("base_url", lane.base_url)]
    if lane.model:
        entries += [Entry("model", lane.model), Entry("litellm_model", litellm_model(lane.model))]
    if lane.is_keyed:
        held = bundle.with_keys and lane.key
        entries += [Entry("api_key", held) if held else Entry("api_key_env", _key_variable(bundle, lane))]
    comment = f"{lane.endpoint_name} ({lane.endpoint_kind})"
    return Block(tuple(entries), (comment,), _table_name(bundle, lane))


def _table_name(bundle: Bundle, lane: BundleLane) -> str:
    replay = "replay" if bundle.generation == "0.x" else "upstream"
    return {LaneKind.AGENT: "llm", LaneKind.REPLAY: replay, LaneKind.ROLLOUT: "rollout"}[lane.kind]


def _key_variable(bundle: Bundle, lane: BundleLane) -> str:
    """One variable for one key: a lane on the agent's channel shares the agent's."""
    if bundle.generation == "1.x" and lane.is_gateway:
        return GATEWAY_KEY
    agent = bundle.lane(LaneKind.AGENT)
    if agent and lane.same_channel(agent):
        return AGENT_KEY
    return {LaneKind.AGENT: AGENT_KEY, LaneKind.REPLAY: REPLAY_KEY, LaneKind.ROLLOUT: ROLLOUT_KEY}[lane.kind]
