"""Development routes: found by reading the server's own list, a finding beyond loopback."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_network

import pytest

from checks import EgressPolicy, EndpointKind, LaneKind, LaneSpec, Reason, Status, run
from checks.probes.contracts.engine import open_routes
from checks.simulator import Server, serve
from tests.checks.contracts.lanes import step

MODEL = "qwen3-8b"
FOUND = ["/sleep", "/update_weights"]


def rollout(server: Server) -> LaneSpec:
    return LaneSpec(
        id="lane-1",
        base_url=server.base_url,
        model=MODEL,
        kind=EndpointKind.VLLM,
        lane=LaneKind.ROLLOUT,
        egress=EgressPolicy((ip_network("127.0.0.0/8"),)),
        contract=True,
    )


def test_development_routes_are_read_and_never_called() -> None:
    with serve("vllm", models=(MODEL,), fault="development_mode") as server:
        outcome = run(rollout(server))
        methods = {seen.method for seen in server.requests if "chat" not in seen.path}
    assert step(outcome, "routes").say["routes"] == "/sleep, /wake_up, /collective_rpc, /update_weights"
    assert (outcome.status, methods) == (Status.OK, {"GET"})


def test_a_server_without_them_has_none() -> None:
    with serve("vllm", models=(MODEL,)) as server:
        assert step(run(rollout(server)), "routes").say["count"] == "0"


def test_a_litellm_proxy_is_not_asked_for_its_list_of_routes() -> None:
    with serve("litellm-proxy", models=(MODEL,)) as server:
        outcome = run(replace(rollout(server), kind=EndpointKind.LITELLM))
        paths = {seen.path for seen in server.requests}
    assert (step(outcome, "routes").say["count"], "/openapi.json" in paths) == ("0", False)


@pytest.mark.parametrize("peer", ["198.51.100.7:8000", "[2001:db8::7]:8000", "10.0.0.7:8000"])
def test_open_routes_beyond_loopback_are_a_finding(peer: str) -> None:
    found = open_routes(FOUND, peer)
    assert (found.status, found.reason) == (Status.DEGRADED, Reason.DEVELOPMENT_ROUTES_OPEN)


@pytest.mark.parametrize(
    "peer", ["127.0.0.1:8000", "127.3.2.1:8000", "[::1]:8000", "[::ffff:127.0.0.1]:80", ""]
)
def test_open_routes_on_loopback_are_none(peer: str) -> None:
    assert open_routes(FOUND, peer).status is Status.OK


def test_no_routes_are_no_finding_anywhere() -> None:
    assert open_routes([], "198.51.100.7:8000").status is Status.OK
