"""Negative steps: a lane with a key is asked without it and with a wrong one, and both must be refused."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import Any

import pytest

from checks import EndpointKind, LaneSpec, Masked, Outcome, Reason, Rung, Status, Step, run
from checks.probes.negative import wrong_key
from checks.simulator import serve as simulate
from tests.checks.conftest import Serve
from tests.checks.local import KEY, LOOPBACK, Behaviour, answering, completion

SITE_KEY = "sk-test-simulated-0001"
CHAT = answering(200, completion())
REFUSAL = answering(401, {"error": "Unauthorized"})


def by_key(right: Behaviour, none: Behaviour, wrong: Behaviour) -> Behaviour:
    """Behave by what the request shows: the lane's key, none, or another."""

    def behave(connection: socket.socket, request: bytes) -> None:
        shown = b"authorization:" in request.lower()
        (right if KEY.encode() in request else wrong if shown else none)(connection, request)

    return behave


def climb(serve: Serve, none: Behaviour, wrong: Behaviour, **changes: Any) -> Outcome:
    spec = {"rungs": (Rung.CHANNEL,), "negative": True, **changes}
    return run(serve(by_key(CHAT, none, wrong)).spec(**spec))


def step_of(outcome: Outcome, name: str) -> Step:
    return next(step for step in outcome.steps if step.name == name)


@pytest.mark.parametrize(
    "family",
    ["vllm", "sglang", "openai", "vendor", "deepseek", "one-api", "new-api", "litellm-proxy", "azure"],
)
def test_a_server_that_checks_keys_passes(family: str) -> None:
    key = "0123456789abcdef0123456789abcdef" if family == "azure" else SITE_KEY
    with simulate(family, key=key) as server:
        spec = LaneSpec("a", server.base_url, "qwen3-8b", Masked(key), egress=LOOPBACK, negative=True)
        outcome = run(spec)
        shown = [seen.key for seen in server.requests]
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert (step_of(outcome, "negative").status, shown) == (Status.OK, ["right", "none", "wrong"])


@pytest.mark.parametrize("family", ["vllm", "sglang", "agl-gateway", "litellm-proxy"])
def test_a_server_that_answers_without_the_key_is_open(family: str) -> None:
    with simulate(family) as server:
        outcome = run(LaneSpec("a", server.base_url, "qwen3-8b", Masked(KEY), egress=LOOPBACK, negative=True))
        asked = len(server.requests)
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.ENDPOINT_OPEN)
    assert step_of(outcome, "open_endpoint").say["no_key"] == "answered"
    assert asked == 2


def test_a_server_that_takes_any_key_is_open_too(serve: Serve) -> None:
    outcome = climb(serve, none=REFUSAL, wrong=CHAT)
    say = step_of(outcome, "open_endpoint").say
    assert (outcome.reason, outcome.rung) == (Reason.ENDPOINT_OPEN, Rung.CHANNEL)
    assert (say["no_key"], say["wrong_key"], say["no_key_status"]) == ("refused", "answered", "401")


@pytest.mark.parametrize("key", [None, Masked("EMPTY"), Masked("token-abc123"), Masked("")])
def test_a_server_open_by_design_is_no_finding(key: Masked | None) -> None:
    with simulate("vllm") as server:
        lane = LaneSpec("a", server.base_url, "qwen3-8b", key, kind=EndpointKind.VLLM, egress=LOOPBACK)
        outcome = run(replace(lane, negative=True))
    assert (outcome.status, outcome.steps[-1].name) == (Status.OK, "chat")


def test_a_lane_that_does_not_ask_for_it_sends_one_request(serve: Serve) -> None:
    server = serve(CHAT)
    assert run(server.spec(rungs=(Rung.CHANNEL,))).status is Status.OK
    assert len(server.seen) == 1


def test_a_chat_that_failed_is_not_followed_by_wrong_keys(serve: Serve) -> None:
    server = serve(REFUSAL)
    run(server.spec(rungs=(Rung.CHANNEL,), negative=True))
    assert all(KEY.encode() in sent for sent in server.seen)


@pytest.mark.parametrize(
    "refusal",
    [
        answering(403, {"error": {"message": "Forbidden"}}),
        answering(400, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}),
        answering(200, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}),
    ],
)
def test_a_refusal_counts_in_every_form(serve: Serve, refusal: Behaviour) -> None:
    step = step_of(climb(serve, none=refusal, wrong=refusal), "negative")
    assert (step.status, step.say["no_key"], step.say["wrong_key"]) == (Status.OK, "refused", "refused")


@pytest.mark.parametrize(
    "answer",
    [
        answering(500, {"error": "boom"}),
        answering(429, {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}),
        answering(403, "<html><title>Attention Required! | Cloudflare</title></html>", "text/html"),
        lambda connection, request: None,
    ],
)
def test_an_answer_that_says_nothing_of_keys_is_unclear_and_decides_nothing(
    serve: Serve, answer: Behaviour
) -> None:
    outcome = climb(serve, none=answer, wrong=REFUSAL)
    step = step_of(outcome, "negative")
    assert (outcome.status, step.status, step.say["no_key"]) == (Status.OK, Status.NOT_TESTABLE, "unclear")


def test_what_an_open_endpoint_spends_is_counted(serve: Serve) -> None:
    assert climb(serve, none=CHAT, wrong=CHAT).tokens == 24


def test_a_spent_budget_asks_nothing_more(serve: Serve) -> None:
    server = serve(answering(200, completion(usage={"total_tokens": 250})))
    outcome = run(server.spec(rungs=(Rung.CHANNEL,), negative=True, token_budget=260))
    assert (outcome.status, len(server.seen)) == (Status.OK, 1)
    assert step_of(outcome, "negative").say == {"budget": "spent"}


def test_an_open_endpoint_is_reported_beside_a_slow_chat(serve: Serve) -> None:
    outcome = climb(serve, none=CHAT, wrong=CHAT, latency_limit_ms=0)
    assert outcome.status is Status.DEGRADED
    assert step_of(outcome, "chat").reason is Reason.LATENCY_OVER_LIMIT
    assert step_of(outcome, "open_endpoint").reason is Reason.ENDPOINT_OPEN


@pytest.mark.parametrize(
    "key", [KEY, "0123456789abcdef" * 2, "gsk_abcDEF123", "sk-", "x", "----", "eyJhb.eyJz.sig"]
)
def test_a_wrong_key_has_the_shape_of_the_right_one_and_is_another(key: str) -> None:
    made = wrong_key(Masked(key)).reveal()
    assert made != key
    assert [letter.isdigit() for letter in made[: len(key)]] == [letter.isdigit() for letter in key]
    assert len(made) in (len(key), len(key) + 16)


def test_two_wrong_keys_differ() -> None:
    assert wrong_key(Masked(KEY)) != wrong_key(Masked(KEY))
