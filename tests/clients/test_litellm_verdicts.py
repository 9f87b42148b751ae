"""What is wrong with a lane behind the real litellm proxy is named, and its lanes keep what a proxy can."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest

from checks import EgressPolicy, EndpointKind, LaneKind, LaneSpec, Masked, Outcome, Reason, Status, Step, run
from tests.clients.proxy import Proxy

pytestmark = pytest.mark.clients
LOOPBACK = EgressPolicy(allowed=(ip_network("127.0.0.0/8"),))
WRONG = Masked("sk-test-wrong-0123456789")


def climb(proxy: Proxy, path: str = "/v1", **changes: Any) -> Outcome:
    known = {"key": Masked(proxy.key), "model": proxy.model, "kind": EndpointKind.LITELLM, "deadline": 60.0}
    return run(
        LaneSpec(**{"id": "litellm", "base_url": proxy.origin + path, "egress": LOOPBACK, **known, **changes})
    )


def step_of(outcome: Outcome, name: str) -> Step:
    return next(step for step in outcome.steps if step.name == name)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/v1/v1", Reason.BASE_URL_DOUBLE_V1),
        ("/v1/chat/completions", Reason.BASE_URL_FULL_ENDPOINT),
        ("/v1/models", Reason.BASE_URL_FULL_ENDPOINT),
    ],
)
def test_too_much_path_is_named_and_the_base_that_answers_offered(
    litellm_proxy: Proxy, path: str, reason: Reason
) -> None:
    outcome = climb(litellm_proxy, path)
    assert (outcome.status, outcome.reason) == (Status.DOWN, reason)
    assert outcome.offered_base_url == f"{litellm_proxy.origin}/v1"


@pytest.mark.parametrize("path", ["/llm", "/llm/v1", "/v2"])
def test_a_segment_that_leads_nowhere_is_a_wrong_path(litellm_proxy: Proxy, path: str) -> None:
    outcome = climb(litellm_proxy, path)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.BASE_URL_WRONG_PATH)
    assert outcome.offered_base_url is None


def test_an_unknown_model_is_named_beside_the_list_of_the_known(litellm_proxy: Proxy) -> None:
    outcome = climb(litellm_proxy, model="qwen3-80b")
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.MODEL_NOT_FOUND)
    assert step_of(outcome, "models").say["count"] == "1"


@pytest.mark.parametrize("key", [WRONG, Masked("wrong-without-prefix")])
def test_a_wrong_key_is_named_auth_invalid_key(litellm_proxy: Proxy, key: Masked) -> None:
    """Without a database the proxy refuses any other key with a 400 that speaks of that database alone."""
    outcome = climb(litellm_proxy, key=key)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.AUTH_INVALID_KEY)


def test_no_key_is_named_although_the_proxy_breaks_on_it(litellm_proxy: Proxy) -> None:
    outcome = climb(litellm_proxy, key=None)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.AUTH_MISSING_HEADER)
    assert step_of(outcome, "chat").say["status"] == "500"


def test_no_key_and_a_wrong_key_are_both_refused(litellm_proxy: Proxy) -> None:
    say = step_of(climb(litellm_proxy, negative=True), "negative").say
    assert (say["no_key"], say["wrong_key"]) == ("refused", "refused")


def test_an_agent_whose_model_calls_no_tool_is_degraded_and_the_rest_is_kept(litellm_proxy: Proxy) -> None:
    """The mocked answer is text whatever is asked, so that no tool is ever called."""
    outcome = climb(litellm_proxy, contract=True)
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.TOOL_NOT_CALLED)
    kept = ("tool_result", "stream", "stream_false", "max_completion_tokens")
    assert {step_of(outcome, name).status for name in kept} == {Status.OK}
    assert step_of(outcome, "responses").say["supported"] == "yes"


def test_the_replay_contract_is_kept(litellm_proxy: Proxy) -> None:
    outcome = climb(litellm_proxy, lane=LaneKind.REPLAY, contract=True)
    assert (outcome.status, outcome.contract) == (Status.OK, Status.OK)
    assert step_of(outcome, "sampling").say["samples"] == "2"


def test_a_rollout_lane_that_answers_without_ids_is_never_green(litellm_proxy: Proxy) -> None:
    outcome = climb(litellm_proxy, lane=LaneKind.ROLLOUT, contract=True)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.TOKEN_IDS_MISSING)
    assert outcome.contract is Status.DOWN
