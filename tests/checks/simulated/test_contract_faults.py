"""Faults that a plain chat does not see, from the socket to the verdict through the lane's contract."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from checks import (
    EgressPolicy,
    EndpointKind,
    LaneKind,
    LaneSpec,
    Masked,
    Outcome,
    Reason,
    Status,
    classify,
    run,
)
from checks.simulator import FAULTS, serve
from tests.checks.contracts.lanes import step

KEY = "sk-test-simulated-0001"
KEYS = {"azure": "0123456789abcdef0123456789abcdef"}
MODEL = "qwen3-8b"
KINDS = {kind.value: kind for kind in EndpointKind}

# The lane whose contract asks for it, and the step that meets it.
BREAKING = {
    "new_length_refused": (LaneKind.AGENT, "max_completion_tokens"),
    "temperature_refused": (LaneKind.REPLAY, "parameters"),
    "reasoning_wanted": (LaneKind.AGENT, "tool_result"),
    "tools_refused": (LaneKind.AGENT, "tools"),
    "history_refused": (LaneKind.AGENT, "tool_result"),
    "calls_as_text": (LaneKind.AGENT, "tools"),
    "arguments_cut": (LaneKind.AGENT, "tools"),
    "parser_off": (LaneKind.AGENT, "tools"),
    "logprobs_dropped": (LaneKind.ROLLOUT, "logprobs"),
    "ids_dropped": (LaneKind.ROLLOUT, "token_ids"),
    "stream_cut": (LaneKind.AGENT, "stream"),
    "stream_ignored": (LaneKind.AGENT, "stream"),
}
SAID = {
    "image_refused": "image",
    "extra_refused": "template_kwargs",
    "schema_refused": "json_schema",
    "parts_refused": "content_parts",
    "role_refused": "developer_role",
    "tool_choice_refused": "forced_tool",
}
TOLERATED = {"empty_chunk": "stream"}
UNASKED = {
    "body_unread": "the engine never sends a body that is no JSON",
    "answer_too_long": "asking for it would cost what it is about",
    "thinking_refused": "a provider's own switch, which no client of the chain turns on by itself",
}


def climb(family: str, lane: LaneKind, fault: str | None = None) -> Outcome:
    key = KEYS.get(family, KEY)
    with serve(family, key=key, fault=fault, models=(MODEL,)) as server:
        return run(
            LaneSpec(
                id="lane-1",
                base_url=server.base_url,
                model=MODEL,
                key=Masked(key),
                kind=KINDS.get(family, EndpointKind.OPENAI),
                lane=lane,
                egress=EgressPolicy((ip_network("127.0.0.0/8"),)),
                contract=True,
            )
        )


def families(names: dict[str, object]) -> list[tuple[str, str]]:
    return [(name, family) for name in names for family in FAULTS[name].effects]


def test_every_fault_that_waits_for_a_question_is_asked_for_or_says_why_not() -> None:
    waiting = {name for name, fault in FAULTS.items() if fault.asks}
    assert waiting == set(BREAKING) | set(SAID) | set(TOLERATED) | set(UNASKED)


@pytest.mark.parametrize(("name", "family"), families(dict(BREAKING)))
def test_the_contract_names_what_the_server_does(name: str, family: str) -> None:
    lane, met_by = BREAKING[name]
    outcome = climb(family, lane, name)
    assert str(outcome.reason) == FAULTS[name].expects
    assert step(outcome, met_by).reason is outcome.reason
    assert outcome.status in (Status.DOWN, Status.DEGRADED)


@pytest.mark.parametrize(("name", "family"), families(dict(SAID)))
def test_what_frameworks_may_meet_is_said_by_its_code(name: str, family: str) -> None:
    outcome = climb(family, LaneKind.AGENT, name)
    assert step(outcome, SAID[name]).say["refused"] == FAULTS[name].expects
    assert outcome.status is Status.OK


@pytest.mark.parametrize(("name", "family"), families(dict(TOLERATED)))
def test_an_odd_stream_that_clients_can_read_is_green_and_named_all_the_same(name: str, family: str) -> None:
    outcome = climb(family, LaneKind.AGENT, name)
    evidence = step(outcome, TOLERATED[name]).evidence
    assert outcome.status is Status.OK
    assert evidence is not None
    assert str(classify(evidence).reason) == FAULTS[name].expects


@pytest.mark.parametrize(
    "family",
    [
        "vllm",
        "sglang",
        "openai",
        "vendor",
        "deepseek",
        "one-api",
        "new-api",
        "litellm-proxy",
        "ollama",
        "lmstudio",
        "azure",
        "agl-gateway",
    ],
)
@pytest.mark.parametrize("lane", [LaneKind.AGENT, LaneKind.REPLAY])
def test_every_healthy_family_keeps_the_contract_of_a_calling_lane(family: str, lane: LaneKind) -> None:
    outcome = climb(family, lane)
    assert (outcome.status, outcome.reason) == (Status.OK, None)


@pytest.mark.parametrize("family", ["vllm", "agl-gateway"])
def test_what_gives_whole_ids_can_be_trained_on(family: str) -> None:
    assert climb(family, LaneKind.ROLLOUT).status is Status.OK


@pytest.mark.parametrize(
    "family", ["sglang", "openai", "deepseek", "one-api", "new-api", "ollama", "lmstudio", "azure"]
)
def test_a_healthy_server_without_whole_ids_is_down_for_rollout(family: str) -> None:
    outcome = climb(family, LaneKind.ROLLOUT)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.TOKEN_IDS_MISSING)
    shape = step(outcome, "token_ids").say["shape"]
    assert shape == ("sglang" if family == "sglang" else "none")


def test_the_gateway_says_that_it_takes_no_streams() -> None:
    assert step(climb("agl-gateway", LaneKind.AGENT), "stream").say["supported"] == "no"
