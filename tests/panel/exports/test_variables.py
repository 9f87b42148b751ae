"""Which variables a bundle sets, by generation and lane."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checks.spec import EndpointKind
from panel.exports.bundle import Bundle
from panel.exports.keys import FILLER
from panel.exports.variables import variable_blocks
from tests.panel.exports.make_bundle import (
    AGENT,
    AGENT_KEY,
    GATEWAY,
    REPLAY,
    REPLAY_KEY,
    ROLLOUT,
    make_bundle,
)


def variables(bundle: Bundle) -> dict[str, str]:
    return {entry.name: entry.text() for block in variable_blocks(bundle) for entry in block.entries}


def comments(bundle: Bundle) -> str:
    return "\n".join(comment for block in variable_blocks(bundle) for comment in block.comments)


def test_an_agent_of_the_old_generation_gets_all_that_its_clients_read() -> None:
    assert variables(make_bundle(AGENT)) == {
        "OPENAI_BASE_URL": "https://relay.example/v1",
        "OPENAI_API_BASE": "https://relay.example/v1",
        "OPENAI_API_KEY": AGENT_KEY,
        "OPENAI_MODEL": "deepseek-v3.2",
        "LITELLM_MODEL": "openai/deepseek-v3.2",
        "OPENAI_DEFAULT_MODEL": "deepseek-v3.2",
        "MODEL": "deepseek-v3.2",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def test_the_new_generation_has_no_general_name_for_the_model() -> None:
    old, new = variables(make_bundle(AGENT)), variables(make_bundle(AGENT, generation="1.x"))
    assert old.keys() - new.keys() == {"MODEL"}


def test_the_vendor_itself_may_have_its_traces() -> None:
    lane = replace(AGENT, base_url="https://api.openai.com/v1")
    assert "OPENAI_AGENTS_DISABLE_TRACING" not in variables(make_bundle(lane))
    assert "LITELLM_LOCAL_MODEL_COST_MAP" not in variables(make_bundle(lane))


@pytest.mark.parametrize("model", ["Qwen/Qwen2.5-7B-Instruct", "openai/gpt-4o-mini", "DeepSeek-V3"])
def test_an_id_that_openai_agents_would_misread_is_not_its_default(model: str) -> None:
    bundle = make_bundle(replace(AGENT, model=model))
    assert "OPENAI_DEFAULT_MODEL" not in variables(bundle)
    assert f"pass openai/{model} in code" in comments(bundle)


def test_litellm_gets_exactly_one_more_prefix() -> None:
    lane = replace(AGENT, model="openai/gpt-4o-mini")
    assert variables(make_bundle(lane))["LITELLM_MODEL"] == "openai/openai/gpt-4o-mini"


def test_without_a_model_its_names_are_left_out() -> None:
    found = variables(make_bundle(replace(AGENT, model="")))
    assert not {"OPENAI_MODEL", "LITELLM_MODEL", "OPENAI_DEFAULT_MODEL", "MODEL"} & found.keys()
    assert all(found.values())


def test_a_server_without_keys_gets_a_filler_since_clients_insist() -> None:
    bundle = make_bundle(replace(AGENT, needs_key=False, key_name="", key=None), with_keys=False)
    assert variables(bundle)["OPENAI_API_KEY"] == FILLER
    assert "filler" in comments(bundle)


def test_a_key_that_the_server_does_not_ask_for_is_used_all_the_same() -> None:
    assert variables(make_bundle(replace(AGENT, needs_key=False)))["OPENAI_API_KEY"] == AGENT_KEY


def test_without_keys_a_comment_says_what_to_set() -> None:
    bundle = make_bundle(AGENT, with_keys=False)
    assert "OPENAI_API_KEY" not in variables(bundle)
    assert "OPENAI_API_KEY: not included, set it in your environment (key v3 of Relay)." in comments(bundle)


def test_a_lane_whose_key_is_missing_says_so() -> None:
    bundle = make_bundle(replace(AGENT, key_name="", key=None))
    assert "OPENAI_API_KEY" not in variables(bundle)
    assert "Relay has no key yet" in comments(bundle)


def test_a_replay_of_its_own_has_names_of_its_own() -> None:
    found = variables(make_bundle(AGENT, REPLAY))
    assert found["OPENAI_BASE_URL"] == "https://relay.example/v1"
    assert found["OPENAI_API_KEY"] == AGENT_KEY
    replay = {name: value for name, value in found.items() if name.startswith("PREFLIGHT_")}
    assert replay == {
        "PREFLIGHT_REPLAY_BASE_URL": "https://other.example/api/v1",
        "PREFLIGHT_REPLAY_MODEL": "Qwen/Qwen2.5-7B-Instruct",
        "PREFLIGHT_REPLAY_LITELLM_MODEL": "openai/Qwen/Qwen2.5-7B-Instruct",
        "PREFLIGHT_REPLAY_API_KEY": REPLAY_KEY,
    }


def test_a_replay_like_the_agent_needs_no_names() -> None:
    same = replace(AGENT, kind=REPLAY.kind)
    assert variables(make_bundle(AGENT, same)) == variables(make_bundle(AGENT))


def test_a_replay_alone_takes_no_openai_names() -> None:
    assert not [name for name in variables(make_bundle(REPLAY)) if name.startswith("OPENAI_")]


def test_no_variable_is_made_up_for_the_rollout() -> None:
    bundle = make_bundle(replace(ROLLOUT, base_url="https://gpu.example/v1"))
    assert variables(bundle) == {}
    assert "https://gpu.example/v1, model Qwen/Qwen3-8B" in comments(bundle)


def test_a_gateway_gets_the_names_of_the_new_generation_and_no_others() -> None:
    found = variables(make_bundle(GATEWAY, generation="1.x"))
    assert {name: found[name] for name in found if "proxy" not in name.lower()} == {
        "AGL_BASE_URL": "http://10.0.0.7:8080",
        "AGL_MODEL_NAME": ROLLOUT.model,
        "AGL_KEY": AGENT_KEY,
    }


def test_the_new_generation_has_no_replay_but_an_upstream() -> None:
    bundle = make_bundle(GATEWAY, REPLAY, generation="1.x")
    assert not [name for name in variables(bundle) if "REPLAY" in name]
    assert "Gateway upstream: Other" in comments(bundle)


def test_an_agent_beside_the_gateway_is_told_that_it_yields_no_training_data() -> None:
    assert "no training data" in comments(make_bundle(AGENT, generation="1.x"))
    assert "no training data" not in comments(make_bundle(AGENT, generation="0.x"))


@pytest.mark.parametrize(
    ("base_url", "host"),
    [
        ("http://gpu-a12:8000/v1", "gpu-a12"),
        ("http://10.0.0.7:8000/v1", "10.0.0.7"),
        ("http://[fd00::7]:8000/v1", "fd00::7"),
        ("http://vllm.internal/v1", "vllm.internal"),
    ],
)
def test_a_private_host_is_named_exactly_to_both_proxy_variables(base_url: str, host: str) -> None:
    found = variables(make_bundle(replace(AGENT, base_url=base_url)))
    assert found["NO_PROXY"] == found["no_proxy"] == f"127.0.0.1,localhost,::1,{host}"


def test_loopback_is_not_named_twice() -> None:
    found = variables(make_bundle(replace(AGENT, base_url="http://127.0.0.1:8000/v1")))
    assert found["NO_PROXY"] == "127.0.0.1,localhost,::1"


def test_a_public_host_leaves_the_proxy_alone() -> None:
    assert not {"NO_PROXY", "no_proxy"} & variables(make_bundle(AGENT, REPLAY)).keys()


@pytest.mark.parametrize("generation", ["0.x", "1.x"])
@pytest.mark.parametrize("kind", list(EndpointKind))
def test_names_that_nothing_reads_or_that_do_harm_are_never_set(generation: str, kind: EndpointKind) -> None:
    agent = replace(AGENT, endpoint_kind=kind)
    bundle = make_bundle(agent, REPLAY, ROLLOUT, generation="1.x" if generation == "1.x" else "0.x")
    harmful = {
        "AGENT_LLM_MODEL",
        "LITELLM_MASTER_KEY",
        "AGL_OPENAI_BASE_URL",
        "AGL_EVENT_URL",
        "OPENAI_ORG_ID",
    }
    names = variables(bundle)
    assert not [name for name in names if name in harmful or name.startswith("VERL_")]
    assert all(names.values())
