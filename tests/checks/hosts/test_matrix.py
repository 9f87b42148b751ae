"""Versions clash where they are known to, and only there."""

from __future__ import annotations

import pytest

from checks.hosts.matrix import clashes, generation_of
from checks.outcome import Status

GOOD_1 = {"agentlightning": "1.0.2", "verl": "0.8.0", "vllm": "0.20.2", "torch": "2.11.0"}
GOOD_0 = {"agentlightning": "0.3.0", "verl": "0.5.0", "vllm": "0.10.2", "torch": "2.8.0+cu128"}
KEYLESS = "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"


@pytest.mark.parametrize(
    ("versions", "generation", "python"),
    [
        (GOOD_1, "1.x", "3.12.3"),
        ({**GOOD_1, "verl": "0.7.1", "vllm": "0.12.0+cu129"}, "1.x", "3.13.0"),
        ({**GOOD_0, "litellm": "1.103.0", "opentelemetry-sdk": "1.42.1"}, "0.x", "3.11.7"),
        ({"agentlightning": "1.0.2"}, "1.x", "3.12.0"),
        ({"torch": "2.1.0"}, "", "3.8.10"),
    ],
)
def test_sets_that_are_known_to_work_do_not_clash(versions: dict[str, str], generation: str, python: str):
    assert clashes(versions, generation, python) == []


@pytest.mark.parametrize(
    ("versions", "generation", "python", "found"),
    [
        ({**GOOD_1, "verl": "0.9.1"}, "1.x", "3.12.3", "verl 0.9.1"),
        (GOOD_1, "1.x", "3.11.9", "python 3.11.9"),
        ({"agentlightning": "0.3.0"}, "1.x", "3.12.0", "agentlightning 0.3.0"),
        ({"agentlightning": "1.0.2"}, "0.x", "3.12.0", "agentlightning 1.0.2"),
        ({**GOOD_1, "vllm": "0.8.5"}, "1.x", "3.12.3", "vllm 0.8.5"),
        ({**GOOD_1, "vllm": "0.10.1.1"}, "1.x", "3.12.3", "vllm 0.10.1.1"),
        ({**GOOD_0, "vllm": "0.11.1"}, "0.x", "3.11.7", "vllm 0.11.1"),
        ({**GOOD_0, "vllm": "0.11.2"}, "0.x", "3.11.7", "vllm 0.11.2"),
        ({**GOOD_0, "vllm": "0.12.0"}, "0.x", "3.11.7", "vllm 0.12.0"),
        ({**GOOD_0, "litellm": "1.104.0"}, "0.x", "3.11.7", "litellm 1.104.0"),
        (
            {**GOOD_0, "opentelemetry-exporter-otlp": "1.45.2"},
            *("0.x", "3.11.7", "opentelemetry-exporter-otlp 1.45.2"),
        ),
    ],
)
def test_what_is_known_not_to_work_is_down(
    versions: dict[str, str], generation: str, python: str, found: str
):
    (clash,) = clashes(versions, generation, python)
    assert (clash.status, clash.found) == (Status.DOWN, found)


def test_a_pair_that_nobody_saw_work_is_degraded_and_names_those_that_do():
    (clash,) = clashes({**GOOD_1, "vllm": "0.33.0"}, "1.x", "3.12.3")
    assert (clash.status, clash.found) == (Status.DEGRADED, "verl 0.8.0, vllm 0.33.0, torch 2.11.0")
    assert clash.wanted == "verl==0.7.1 vllm==0.12.0 / verl==0.8.0 vllm==0.20.2"


def test_langgraph_one_only_spoils_the_sql_agent_of_the_old_generation():
    assert [clash.status for clash in clashes({"langgraph": "1.0.4"}, "0.x", "3.11.7")] == [Status.DEGRADED]
    assert clashes({"langgraph": "1.0.4"}, "1.x", "3.12.3") == []


def test_the_variable_that_permits_a_keyless_proxy_lifts_litellms_limit():
    versions = {**GOOD_0, "litellm": "1.108.7"}
    assert clashes(versions, "0.x", "3.11.7", {KEYLESS: "true"}) == []


def test_without_a_generation_the_installed_one_is_judged():
    assert [clash.found for clash in clashes({**GOOD_1, "verl": "0.9.0"}, "", "3.12.3")] == ["verl 0.9.0"]
    assert [generation_of(version) for version in ("0.3.0", "1.0.2", "", "x")] == ["0.x", "1.x", "", ""]


def test_what_does_not_work_comes_before_what_is_not_known_to_work():
    found = clashes({**GOOD_0, "langchain": "1.1", "litellm": "1.108.7"}, "0.x", "3.11.7")
    assert [clash.status for clash in found] == [Status.DOWN, Status.DEGRADED]
