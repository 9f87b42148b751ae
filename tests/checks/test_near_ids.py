"""A model that is not served: the ids that a person may have meant are named beside it."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from checks import EgressPolicy, LaneSpec, Reason, run
from checks.probes.channel import nearest
from checks.simulator import serve

LISTED = ("Qwen/Qwen3-8B", "Qwen/Qwen3-32B", "deepseek-v3.2", "text-embedding-3-small")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("qwen3-8b", "Qwen/Qwen3-8B"),
        ("openai/deepseek-v3.2", "deepseek-v3.2"),
        ("DeepSeek-V3.2", "deepseek-v3.2"),
        ("deepseek-v32", "deepseek-v3.2"),
        ("Qwen/Qwen3-8b-Instruct", "Qwen/Qwen3-8B"),
    ],
)
def test_another_case_a_prefix_or_a_slip_is_told_first(asked: str, meant: str) -> None:
    assert nearest(asked, LISTED)[0] == meant


def test_what_is_like_nothing_listed_is_told_nothing() -> None:
    assert nearest("gpt-4o", LISTED) == []


def test_a_climb_names_the_ids_beside_the_unknown_one() -> None:
    with serve("vllm", models=("Qwen/Qwen3-8B", "Qwen/Qwen3-32B")) as server:
        outcome = run(
            LaneSpec(
                "near",
                server.base_url,
                "Qwen/Qwen3-8x",
                egress=EgressPolicy((ip_network("127.0.0.0/8"),)),
            )
        )
    chat = next(step for step in outcome.steps if step.name == "chat")
    assert outcome.reason is Reason.MODEL_NOT_FOUND
    assert chat.say["near"].split(", ")[0] == "Qwen/Qwen3-8B"
