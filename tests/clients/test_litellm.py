"""A server that nobody here wrote: the ladder climbed against the real litellm proxy."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from checks import EgressPolicy, EndpointKind, LaneSpec, Masked, Outcome, Reason, Status, run
from tests.clients.proxy import Proxy

pytestmark = pytest.mark.clients
LOOPBACK = EgressPolicy(allowed=(ip_network("127.0.0.0/8"),))


def climb(proxy: Proxy, *, path: str = "/v1", key: str | None = None, model: str | None = None) -> Outcome:
    """Two rungs against the proxy, with its own key and model unless told otherwise."""
    return run(
        LaneSpec(
            id="litellm",
            base_url=proxy.origin + path,
            model=model or proxy.model,
            key=Masked(key or proxy.key),
            kind=EndpointKind.LITELLM,
            egress=LOOPBACK,
        )
    )


@pytest.mark.parametrize("path", ["/v1", ""])
def test_the_right_key_is_green_with_and_without_the_version(litellm_proxy: Proxy, path: str) -> None:
    outcome = climb(litellm_proxy, path=path)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert outcome.tokens > 0


@pytest.mark.parametrize("path", ["/v1", ""])
def test_a_wrong_key_is_named_auth_invalid_key(litellm_proxy: Proxy, path: str) -> None:
    outcome = climb(litellm_proxy, path=path, key="sk-test-wrong-0123456789")
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.AUTH_INVALID_KEY)


def test_a_model_that_is_not_served_is_named_model_not_found(litellm_proxy: Proxy) -> None:
    outcome = climb(litellm_proxy, model="qwen3-80b")
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.MODEL_NOT_FOUND)


def test_the_version_twice_is_named(litellm_proxy: Proxy) -> None:
    assert climb(litellm_proxy, path="/v1/v1").reason == Reason.BASE_URL_DOUBLE_V1
