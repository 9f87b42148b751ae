"""Rungs 2 and 5 of a gateway, against the simulated one and against what is none."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic

import pytest

from checks import EndpointKind, LaneSpec, Masked, Reason, Status, run
from checks.outcome import Step
from checks.probes.asking import Ask
from checks.probes.gateway import Door, gateway_dry_run, remove_all
from checks.simulator import serve
from checks.simulator.server import Server
from checks.spec import Recipe
from tests.checks.conftest import Serve
from tests.checks.local import LOOPBACK, MODEL, answering
from tests.checks.simulated import plainly

KEY = "agl-test-key-0123456789"


def lane(server: Server, **changes: object) -> LaneSpec:
    known = {"model": MODEL, "key": Masked(KEY), "kind": EndpointKind.GATEWAY, "egress": LOOPBACK}
    return LaneSpec("run-1", server.origin, **{**known, **changes})  # type: ignore[arg-type]


def dry_run(spec: LaneSpec, **changes: object) -> dict[str, Step]:
    ask = Ask(spec, monotonic() + 20, datetime.now(UTC))
    steps = asyncio.run(gateway_dry_run(replace(ask, **changes)))  # type: ignore[arg-type]
    return {step.name: step for step in steps}


def test_a_healthy_gateway_passes_and_keeps_nothing() -> None:
    with serve("agl-gateway", key=KEY, models=(MODEL,)) as server:
        steps = dry_run(lane(server))
        removed = [seen.path for seen in server.requests if seen.method == "DELETE"]
    assert {step.status for step in steps.values()} == {Status.OK}
    assert removed == ["/api/rollouts/preflight-run-1-val", "/api/rollouts/preflight-run-1-train"]


def test_rung_2_asks_for_health_and_state_alone() -> None:
    with serve("agl-gateway", key=KEY) as server:
        outcome = run(lane(server, contract=True, negative=True))
        asked = {seen.path for seen in server.requests}
    assert (outcome.status, asked) == (Status.OK, {"/healthz", "/proxy/state"})


def test_a_pasted_address_of_a_rollout_is_asked_for_a_chat_too() -> None:
    with serve("agl-gateway", key=KEY, models=(MODEL,)) as server:
        outcome = run(replace(lane(server), base_url=server.base_url))
    assert [step.name for step in outcome.steps][-3:] == ["gateway_health", "gateway_state", "chat"]


def test_a_gateway_that_answers_without_its_key_is_open() -> None:
    with serve("agl-gateway") as server:
        outcome = run(lane(server))
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.ENDPOINT_OPEN)


def test_an_inference_server_on_that_port_is_named() -> None:
    with serve("vllm") as server:
        outcome = run(lane(server))
    assert outcome.reason is Reason.NOT_A_GATEWAY
    assert outcome.steps[-1].say["found"].startswith("vLLM")


def test_a_store_of_the_older_generation_is_named(serve: Serve) -> None:
    page = answering(200, "<!doctype html><title>Agent-lightning</title>", "text/html")
    health = answering(200, {"status": "ok"})
    store = serve(lambda line, seen: (health if b"/v1/agl/health" in seen else page)(line, seen))
    spec = LaneSpec(
        "run-1", f"http://127.0.0.1:{store.port}", MODEL, kind=EndpointKind.GATEWAY, egress=LOOPBACK
    )
    outcome = run(spec)
    assert (outcome.reason, outcome.steps[-1].say["found"]) == (
        Reason.NOT_A_GATEWAY,
        "Agent-Lightning 0.x store",
    )


def test_a_paused_gateway_is_left_alone() -> None:
    with serve("agl-gateway", key=KEY, fault="gateway_paused") as server:
        steps = dry_run(lane(server))
    assert [(step.status, step.reason) for step in steps.values()] == [
        (Status.NOT_TESTABLE, Reason.GATEWAY_PAUSED)
    ]


@pytest.mark.parametrize(("allowed", "status"), [(False, Status.NOT_TESTABLE), (True, Status.OK)])
def test_a_busy_gateway_is_asked_only_where_the_recipe_allows_it(allowed: bool, status: Status) -> None:
    with serve("agl-gateway", key=KEY, models=(MODEL,)) as server:
        headers = {"x-api-key": KEY}
        plainly.post(f"{server.origin}/api/rollouts", headers=headers, json=[{"rollout_id": "theirs"}])
        state = dry_run(lane(server, recipe=Recipe(even_when_busy=allowed)))["gateway_state"]
    assert (state.status, state.say["others"]) == (status, "1")


def test_other_dry_runs_do_not_make_a_gateway_busy() -> None:
    with serve("agl-gateway", key=KEY, models=(MODEL,)) as server:
        theirs = [{"rollout_id": "preflight-other-train"}]
        plainly.post(f"{server.origin}/api/rollouts", headers={"x-api-key": KEY}, json=theirs)
        assert dry_run(lane(server))["gateway_state"].status is Status.OK


def test_removing_from_a_gateway_that_is_gone_finds_nothing() -> None:
    with serve("agl-gateway", key=KEY) as server:
        origin = server.origin
    gone = LaneSpec("run-1", origin, "", Masked(KEY), kind=EndpointKind.GATEWAY, egress=LOOPBACK)
    assert asyncio.run(remove_all(Door(gone))) == ()
