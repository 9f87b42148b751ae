"""Which environment variables a bundle sets: those that the clients in the chain read, and no others.

LangChain and litellm prefer opposite names for the base URL, and a client that finds neither sends the
key to api.openai.com; so both names stand in every file, with one value. No value is ever empty.
"""

from __future__ import annotations

from checks.dialects import Block, Entry
from checks.gateway_urls import gateway_root
from checks.spec import LaneKind
from panel.exports.bundle import Bundle, BundleLane
from panel.exports.keys import key_comments, key_entries

AGENT_KEY = "OPENAI_API_KEY"
REPLAY_KEY = "PREFLIGHT_REPLAY_API_KEY"
GATEWAY_KEY = "AGL_KEY"
OPENAI_HOST = "api.openai.com"
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")


def variable_blocks(bundle: Bundle) -> tuple[Block, ...]:
    """The blocks of a line dialect, lane after lane, then what concerns them all."""
    blocks = [_BLOCKS[lane.kind](bundle, lane) for lane in bundle.lanes]
    return tuple(block for block in (*blocks, _proxy_block(bundle)) if block.entries or block.comments)


def litellm_model(model: str) -> str:
    """The id as litellm and dspy want it: they strip exactly one prefix. Empty stays empty."""
    return model and f"openai/{model}"


def _agent_block(bundle: Bundle, lane: BundleLane) -> Block:
    if bundle.generation == "1.x" and lane.is_gateway:
        return _gateway_block(bundle, lane)
    comments = [f"Agent inference: {lane.endpoint_name}"]
    if bundle.generation == "1.x":
        comments += ["In training the controller sets AGL_OPENAI_BASE_URL; an agent that calls"]
        comments += ["OPENAI_BASE_URL instead passes by the gateway and yields no training data."]
    if lane.model and not _fits_agents_sdk(lane.model):
        comments += [
            f"No OPENAI_DEFAULT_MODEL: openai-agents would misread the id; pass openai/{lane.model} in code."
        ]
    entries = (
        *_filled(("OPENAI_BASE_URL", lane.base_url), ("OPENAI_API_BASE", lane.base_url)),
        *key_entries(bundle, lane, AGENT_KEY),
        *_model_entries(bundle, lane.model),
        *_quiet_entries(lane),
    )
    return Block(entries, (*comments, *key_comments(bundle, lane, AGENT_KEY)))


def _gateway_block(bundle: Bundle, lane: BundleLane) -> Block:
    comments = (
        f"Agent-Lightning gateway: {lane.endpoint_name}",
        "The controller gives each agent its own AGL_OPENAI_BASE_URL; OPENAI_* would pass by the gateway.",
        *key_comments(bundle, lane, GATEWAY_KEY),
    )
    named = _filled(("AGL_BASE_URL", gateway_root(lane.base_url)), ("AGL_MODEL_NAME", lane.model))
    return Block((*named, *key_entries(bundle, lane, GATEWAY_KEY)), comments)


def _replay_block(bundle: Bundle, lane: BundleLane) -> Block:
    if bundle.generation == "1.x":
        return Block(
            comments=_told("Gateway upstream", lane, "Register it at the gateway; no variable sets it.")
        )
    agent = bundle.lane(LaneKind.AGENT)
    if agent and lane.same_channel(agent) and lane.model == agent.model:
        return Block(comments=("Trace replay: as the agent, with the variables above.",))
    comments = (
        f"Trace replay: {lane.endpoint_name}",
        "No library reads these names; your own code passes them to litellm.",
        *key_comments(bundle, lane, REPLAY_KEY),
    )
    named = _filled(
        ("PREFLIGHT_REPLAY_BASE_URL", lane.base_url),
        ("PREFLIGHT_REPLAY_MODEL", lane.model),
        ("PREFLIGHT_REPLAY_LITELLM_MODEL", litellm_model(lane.model)),
    )
    return Block((*named, *key_entries(bundle, lane, REPLAY_KEY)), comments)


def _rollout_block(bundle: Bundle, lane: BundleLane) -> Block:
    return Block(
        comments=_told("Rollout sampling", lane, "The trainer starts its own server; no variable sets it.")
    )


_BLOCKS = {LaneKind.AGENT: _agent_block, LaneKind.REPLAY: _replay_block, LaneKind.ROLLOUT: _rollout_block}


def _told(title: str, lane: BundleLane, why: str) -> tuple[str, ...]:
    return f"{title}: {lane.endpoint_name}, {lane.base_url}, model {lane.model or '(none)'}", why


def _model_entries(bundle: Bundle, model: str) -> tuple[Entry, ...]:
    """No library reads the first two; the third is openai-agents', `MODEL` that of the 0.x examples."""
    return _filled(
        ("OPENAI_MODEL", model),
        ("LITELLM_MODEL", litellm_model(model)),
        ("OPENAI_DEFAULT_MODEL", model if _fits_agents_sdk(model) else ""),
        ("MODEL", model if bundle.generation == "0.x" else ""),
    )


def _fits_agents_sdk(model: str) -> bool:
    """Whether openai-agents takes the id as it is: it lower-cases it and reads `x/` as a provider."""
    return model == model.lower() and "/" not in model


def _quiet_entries(lane: BundleLane) -> tuple[Entry, ...]:
    """Keep key and prompts from a third host, and litellm from fetching its price table at start."""
    if lane.host == OPENAI_HOST:
        return ()
    return _filled(("OPENAI_AGENTS_DISABLE_TRACING", "1"), ("LITELLM_LOCAL_MODEL_COST_MAP", "True"))


def _proxy_block(bundle: Bundle) -> Block:
    """Exact names only: ranges, wildcards and brackets are each misread by some client."""
    private = [lane.host for lane in bundle.lanes if lane.is_private]
    if not private:
        return Block()
    names = ",".join(dict.fromkeys([*LOOPBACK_NAMES, *private]))
    # The lower-case name goes first, since clients prefer it: it takes over what the other one says.
    lower = Entry("no_proxy", names, extends=("no_proxy", "NO_PROXY"))
    return Block((lower, Entry("NO_PROXY", names, extends=("NO_PROXY",))), ("Hosts to call without a proxy",))


def _filled(*pairs: tuple[str, str]) -> tuple[Entry, ...]:
    """Leave a name out rather than set it empty: several clients take empty for api.openai.com."""
    return tuple(Entry(name, value) for name, value in pairs if value)
