"""Samples of a rollout endpoint: what a trainer could not use is never green."""

from __future__ import annotations

import asyncio
import json
import socket
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import pytest

from checks import LaneKind, Masked, Reason, Status
from checks.outcome import Step
from checks.probes.asking import Ask
from checks.probes.samples import cost_of, samples
from checks.probes.sums import SUMS, reward
from checks.simulator import serve as simulate
from checks.spec import LaneSpec, Recipe
from tests.checks.conftest import Serve
from tests.checks.local import KEY, LOOPBACK, Behaviour, LocalServer, answering, completion


def drawn(spec: LaneSpec) -> dict[str, Step]:
    ask = Ask(spec, monotonic() + spec.deadline, datetime.now(UTC), spec.token_budget)
    return {step.name: step for step in asyncio.run(samples(ask))}


def simulated(fault: str | None = None, *, key: str = KEY, **changes: Any) -> dict[str, Step]:
    with simulate("vllm", key=KEY, fault=fault) as server:
        known: dict[str, Any] = {"lane": LaneKind.ROLLOUT, "egress": LOOPBACK, "recipe": Recipe(), **changes}
        return drawn(LaneSpec("lane-1", server.base_url, "qwen3-8b", Masked(key), **known))


def sample(text: str = "It is 42.", finish: str = "stop", **changes: Any) -> dict[str, Any]:
    """An answer as vLLM gives it: nine tokens of prompt, three of answer."""
    logprobs = {"content": [{"token": "a", "logprob": -0.5}] * 3}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish, "token_ids": [5, 6, 7]}
    choice |= {"logprobs": logprobs, **changes}
    return completion(choices=[choice], prompt_token_ids=list(range(9)))


def in_turn(first: Behaviour, *others: Behaviour) -> Behaviour:
    """The first for the call of one token; then the others, one after the other, again and again."""
    left: list[Behaviour] = []

    def behave(connection: socket.socket, request: bytes) -> None:
        if json.loads(request.partition(b"\r\n\r\n")[2])["max_tokens"] == 1:
            first(connection, request)
            return
        if not left:
            left.extend(others)
        left.pop(0)(connection, request)

    return behave


def lane(serve: Serve, *answers: dict[str, Any], **changes: Any) -> dict[str, Step]:
    good = answering(200, sample())
    return drawn(spec(serve(in_turn(good, *(answering(200, one) for one in answers))), **changes))


def spec(server: LocalServer, **changes: Any) -> LaneSpec:
    return server.spec(**{"lane": LaneKind.ROLLOUT, "recipe": Recipe(), **changes})


def test_an_engine_that_gives_all_is_green_with_its_pace() -> None:
    steps = simulated()
    assert [(name, step.status) for name, step in steps.items()] == [
        ("dry_samples", Status.OK),
        ("dry_reward", Status.OK),
    ]
    say = steps["dry_samples"].say
    assert (say["passed"], say["cut"], say["identical"]) == ("4", "0", "yes")
    assert float(say["tokens_per_second"]) > 0
    assert float(say["ttft_ms"]) > 0
    assert steps["dry_samples"].tokens > 0


def test_samples_are_asked_for_as_in_training(serve: Serve) -> None:
    server = serve(in_turn(*[answering(200, sample())] * 2))
    drawn(spec(server, recipe=Recipe(prompts=2, samples=3), response_length=200))
    sent = [json.loads(request.partition(b"\r\n\r\n")[2]) for request in server.seen]
    assert [one["max_tokens"] for one in sent] == [1] + [200] * 6
    assert all(one["return_token_ids"] and one["logprobs"] and one["temperature"] == 1 for one in sent)
    assert len({one["messages"][0]["content"] for one in sent}) == 2


def test_rewards_follow_the_answers(serve: Serve) -> None:
    right = [sample(f"It is {answer}.") for _, answer in SUMS[:1]]
    say = lane(serve, *right, sample("No idea: 7"), recipe=Recipe(prompts=1, samples=2))["dry_reward"].say
    assert (say["rewards"], say["mean"], say["spread"]) == ("2", "0.50", "yes")


@pytest.mark.parametrize(
    ("text", "earned"),
    [("42", 1.0), ("17 + 25 = 42.", 1.0), ("42 or 43", 0.0), ("", 0.0), ("٤٢", 0.0), ("1,042", 0.0)],
)
def test_a_reward_looks_at_the_last_number(text: str, earned: float) -> None:
    assert reward(text, 42) == earned


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"token_ids": None}, Reason.TOKEN_IDS_MISSING),
        ({"token_ids": [1, 2]}, Reason.TOKEN_IDS_MISSING),
        ({"logprobs": None}, Reason.LOGPROBS_UNSUPPORTED),
        ({"logprobs": {"content": [{"logprob": -0.5}] * 2}}, Reason.LOGPROBS_UNSUPPORTED),
        ({"logprobs": {"content": [{"logprob": float("inf")}] * 3}}, Reason.LOGPROBS_UNSUPPORTED),
    ],
)
def test_samples_that_no_trainer_can_use_are_down(serve: Serve, changes: Any, reason: Reason) -> None:
    steps = lane(serve, sample(), sample(**changes))
    assert (steps["dry_samples"].status, steps["dry_samples"].reason) == (Status.DOWN, reason)
    assert steps["dry_reward"].status is Status.NOT_REACHED


def test_an_endpoint_without_token_ids_is_down() -> None:
    step = simulated("ids_dropped")["dry_samples"]
    assert (step.status, step.reason) == (Status.DOWN, Reason.TOKEN_IDS_MISSING)


def test_a_refused_key_is_named_after_one_call() -> None:
    steps = simulated(key="sk-wrong-0123456789")
    assert steps["dry_samples"].reason is Reason.AUTH_INVALID_KEY


@pytest.mark.parametrize(("cut", "status"), [(1, Status.OK), (2, Status.OK), (3, Status.DEGRADED)])
def test_more_than_half_cut_samples_are_degraded(serve: Serve, cut: int, status: Status) -> None:
    answers = [sample(finish="length")] * cut + [sample()] * (4 - cut)
    step = lane(serve, *answers)["dry_samples"]
    assert (step.status, step.say["cut"]) == (status, str(cut))
    assert step.reason is (Reason.SAMPLES_TRUNCATED if status is Status.DEGRADED else None)


@pytest.mark.parametrize(
    ("lengths", "reason"),
    [
        ({"prompt_length": 8}, Reason.CONTEXT_LENGTH_EXCEEDED),
        ({"response_length": 2}, Reason.OUTPUT_TOKENS_OUT_OF_RANGE),
    ],
)
def test_lengths_beyond_the_profile_are_degraded(serve: Serve, lengths: Any, reason: Reason) -> None:
    step = lane(serve, sample(), **lengths)["dry_samples"]
    assert (step.status, step.reason) == (Status.DEGRADED, reason)


def test_one_lost_sample_is_degraded_for_its_own_reason(serve: Serve) -> None:
    broken = answering(500, {"error": {"message": "EngineCore encountered an issue.", "code": 500}})
    good = answering(200, sample())
    steps = drawn(spec(serve(in_turn(good, good, broken, good, good))))
    assert steps["dry_samples"].status is Status.DEGRADED
    assert (steps["dry_samples"].reason, steps["dry_samples"].say["passed"]) == (Reason.ENGINE_CRASHED, "3")


def test_samples_without_a_word_bring_no_reward(serve: Serve) -> None:
    step = lane(serve, sample(""))["dry_reward"]
    assert (step.status, step.reason) == (Status.DEGRADED, Reason.REWARD_MISSING)


def test_a_small_purse_shortens_the_samples_and_an_empty_one_asks_nothing(serve: Serve) -> None:
    server = serve(in_turn(*[answering(200, sample())] * 2))
    assert drawn(spec(server, token_budget=1600))["dry_samples"].say["length"] == "79"
    asked = len(server.seen)
    step = drawn(spec(server, token_budget=300))["dry_samples"]
    assert (step.reason, len(server.seen)) == (Reason.BUDGET_SPENT, asked)


def test_the_cost_is_told_beforehand() -> None:
    assert cost_of(Recipe(prompts=2, samples=2), 100) == 4 * (100 + 256) + 1 + 256
