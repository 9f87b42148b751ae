"""The real gateway of Agent-Lightning 1.x: how each of its failures looks, and what is left behind."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from checks import EndpointKind, Masked, Reason, Rung, Status, run
from checks.outcome import Step
from checks.probes.gateway import (
    Door,
    GatewayRollout,
    Purpose,
    controller_run,
    gateway_channel,
    gateway_dry_run,
    remove_all,
)
from checks.probes.grounds import Grounds
from checks.simulator import serve
from checks.spec import HostSpec, Recipe
from tests.clients import agl
from tests.clients.agl import KEY, MODEL, RUN, Gateway, ask_of
from tests.clients.controlled import host_here, project
from tests.clients.processes import free_port

pytestmark = pytest.mark.clients

Steps = dict[str, Step]
PASSED = {"gateway_state", "gateway_train", "gateway_val", "gateway_reward", "triplets", "gateway_removed"}


def by_name(steps: tuple[Step, ...]) -> Steps:
    return {step.name: step for step in steps}


def dry_run(gateway: Gateway, **changes: Any) -> Steps:
    return by_name(asyncio.run(gateway_dry_run(ask_of(gateway.spec(**changes)))))


@pytest.fixture(autouse=True)
def _nothing_is_left(gateway: Gateway) -> Iterator[None]:
    yield
    assert gateway.rollouts() == []
    assert sorted(path.name for path in gateway.folder.iterdir()) == ["log"]


# --- rung 2 ------------------------------------------------------------------------------------------


def test_health_and_state_are_asked_and_no_rollout_is_made(gateway: Gateway) -> None:
    found = asyncio.run(gateway_channel(ask_of(gateway.spec())))
    assert [(step.name, step.status) for step in found.steps] == [
        ("gateway_health", Status.OK),
        ("gateway_state", Status.OK),
    ]


def test_a_gateway_is_green_under_the_ladder(gateway: Gateway) -> None:
    outcome = run(gateway.spec(contract=True, negative=True))
    assert (outcome.status, outcome.rung, outcome.reason) == (Status.OK, Rung.CHANNEL, None)


def test_a_wrong_gateway_key_is_named(gateway: Gateway) -> None:
    found = by_name(asyncio.run(gateway_channel(ask_of(gateway.spec(key=Masked("agl-wrong-0123"))))).steps)
    assert found["gateway_state"].reason is Reason.AUTH_INVALID_KEY


def test_an_address_of_a_rollout_that_is_gone_says_nothing_of_the_gateway(gateway: Gateway) -> None:
    gone = f"{gateway.origin}/proxy/rollout/gone/attempt/0/mode/val/openai/v1"
    with serve("vllm", models=(MODEL,)) as server:
        gateway.serve_from(server.base_url)
        outcome = run(gateway.spec(base_url=gone))
    assert (outcome.status, outcome.reason) == (Status.OK, None)


def test_a_paused_gateway_is_not_testable(gateway: Gateway) -> None:
    gateway.call("POST", "/proxy/pause", {"reason": "weights"})
    try:
        outcome = run(gateway.spec())
        state = dry_run(gateway)["gateway_state"]
    finally:
        gateway.call("POST", "/proxy/resume")
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.GATEWAY_PAUSED)
    assert (state.reason, state.say["why"]) == (Reason.GATEWAY_PAUSED, "weights")


# --- a dry run that passes, or is refused --------------------------------------------------------------


def test_a_healthy_gateway_passes_the_dry_run(gateway: Gateway) -> None:
    with serve("vllm", models=(MODEL,)) as server:
        gateway.serve_from(server.base_url)
        steps = dry_run(gateway)
    assert {name for name, step in steps.items() if step.status is Status.OK} == PASSED
    assert steps["triplets"].say["usable"] == "1"
    assert sum(step.tokens for step in steps.values()) > 0


def test_a_busy_gateway_is_left_alone_unless_the_recipe_allows_it(gateway: Gateway) -> None:
    gateway.call("POST", "/api/rollouts", [{"rollout_id": "of-a-training-run", "input": {}}])
    try:
        with serve("vllm", models=(MODEL,)) as server:
            gateway.serve_from(server.base_url)
            refused, calls = dry_run(gateway), len(server.requests)
            allowed = dry_run(gateway, recipe=Recipe(even_when_busy=True))
    finally:
        gateway.call("DELETE", "/api/rollouts/of-a-training-run")
    assert [(step.reason, step.status) for step in refused.values()] == [
        (Reason.GATEWAY_BUSY, Status.NOT_TESTABLE)
    ]
    assert (calls, allowed["triplets"].status) == (0, Status.OK)


def test_what_a_dry_run_cannot_pay_for_is_not_begun(gateway: Gateway) -> None:
    steps = by_name(asyncio.run(gateway_dry_run(replace(ask_of(gateway.spec()), tokens_left=100))))
    assert steps["gateway_train"].reason is Reason.BUDGET_SPENT


# --- how failures look (facts, table 2.5) --------------------------------------------------------------


def test_an_upstream_that_wants_a_key_means_that_the_gateway_drops_it(gateway: Gateway) -> None:
    with serve("vllm", models=(MODEL,), key="sk-upstream-0123456789") as server:
        gateway.serve_from(server.base_url)
        steps, endpoint = dry_run(gateway), server.base_url
    train = steps["gateway_train"]
    assert (train.reason, train.say["upstream"]) == (Reason.GATEWAY_DROPS_KEY, endpoint)
    assert steps["gateway_removed"].status is Status.OK


def test_an_endpoint_without_its_version_is_named(gateway: Gateway) -> None:
    with serve("vllm", models=(MODEL,)) as server:
        gateway.serve_from(server.origin)
        assert dry_run(gateway)["gateway_train"].reason is Reason.BASE_URL_MISSING_V1


def test_a_gateway_without_a_model_has_no_channel(gateway: Gateway) -> None:
    gateway.call("DELETE", "/api/models")
    assert dry_run(gateway)["gateway_train"].reason is Reason.MODEL_NO_CHANNEL


def test_a_model_registered_under_another_name_has_no_channel(gateway: Gateway) -> None:
    with serve("vllm", models=(MODEL,)) as server:
        gateway.serve_from(server.base_url, model="another")
        assert dry_run(gateway)["gateway_train"].reason is Reason.MODEL_NO_CHANNEL


def test_an_upstream_without_token_ids_gives_no_triplets(gateway: Gateway) -> None:
    with serve("vllm", models=(MODEL,), fault="ids_dropped") as server:
        gateway.serve_from(server.base_url)
        steps = dry_run(gateway)
    assert (steps["gateway_train"].status, steps["triplets"].reason) == (
        Status.OK,
        Reason.TOKEN_IDS_MISSING,
    )


@pytest.fixture(scope="module")
def slow_rows(agl_python: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Steps]:
    """The rows that cost a gateway's six tries, met all at once on gateways of their own."""
    with ExitStack() as stack:
        dead = stack.enter_context(serve("vllm", models=(MODEL,), fault="engine_dead"))
        endpoints = {"down": f"http://127.0.0.1:{free_port()}/v1", "error": dead.base_url}
        folder = project(tmp_path_factory)
        asked = {}
        for name, endpoint in endpoints.items():
            started = stack.enter_context(agl.running(agl_python, tmp_path_factory.mktemp(name)))
            started.serve_from(endpoint)
            asked[name] = gateway_dry_run(ask_of(started.spec()))
            asked[f"{name} by controller"] = controlled(started, agl_python, folder, run_id=RUN + name)
        return asyncio.run(_all(asked))


async def _all(asked: dict[str, Any]) -> dict[str, Steps]:
    found = await asyncio.gather(*asked.values())
    return {name: by_name(steps) for name, steps in zip(asked, found, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("down", Reason.BAD_GATEWAY_UPSTREAM_DOWN),
        ("error", Reason.ENGINE_CRASHED),
    ],
)
def test_an_upstream_that_is_down_or_broken_is_named(
    slow_rows: dict[str, Steps], row: str, reason: Reason
) -> None:
    assert slow_rows[row]["gateway_train"].reason is reason
    assert slow_rows[row]["gateway_removed"].status is Status.OK
    assert slow_rows[f"{row} by controller"]["controller"].reason is reason


# --- what is left ------------------------------------------------------------------------------------


def test_a_rollout_is_removed_when_its_work_fails(gateway: Gateway) -> None:
    async def fail() -> None:
        async with GatewayRollout(Door(gateway.spec()), Purpose.SDK, seconds=5) as rollout:
            assert gateway.rollouts() == [rollout.id]
            raise KeyError(rollout.id)

    with pytest.raises(KeyError, match=f"preflight-{RUN}-sdk"):
        asyncio.run(fail())
    assert gateway.rollouts() == []


@pytest.mark.slow
def test_a_cancelled_dry_run_leaves_no_rollout(gateway: Gateway) -> None:
    async def cancel() -> list[str]:
        task = asyncio.ensure_future(gateway_dry_run(ask_of(gateway.spec())))
        while not gateway.rollouts():
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return gateway.rollouts()

    gateway.serve_from(f"http://127.0.0.1:{free_port()}/v1")
    assert asyncio.run(cancel()) == []


def test_what_a_killed_worker_left_is_removed_by_name_and_nothing_else(gateway: Gateway) -> None:
    mine, other = f"preflight-{RUN}-train", "preflight-another-train"
    gateway.call("POST", "/api/rollouts", [{"rollout_id": one, "input": {}} for one in (mine, other)])
    door = Door(gateway.spec())
    first, again = asyncio.run(remove_all(door)), asyncio.run(remove_all(door))
    left = gateway.rollouts()
    gateway.call("DELETE", f"/api/rollouts/{other}")
    assert (first, again, left) == ((mine,), (), [other])


# --- the team's agent, by the real controller ----------------------------------------------------------


def controlled(
    gateway: Gateway, python: Any, folder: Any, agent: str = "tiny:Agent", run_id: str = RUN, **changes: Any
) -> Any:
    recipe = Recipe(python=str(python), workdir=str(folder), agent=agent, question="Hello?", **changes)
    host = HostSpec("h1", "gpu-1", "127.0.0.1", "nobody")
    spec = gateway.spec(id=run_id, recipe=recipe, host=host, kind=EndpointKind.GATEWAY)
    return controller_run(ask_of(spec, seconds=150.0, grounds=Grounds(spec, host_here)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return project(tmp_path_factory)


def test_the_teams_agent_runs_and_touches_no_other_rollout(
    gateway: Gateway, agl_python: Any, folder: Any
) -> None:
    gateway.call("POST", "/api/rollouts", [{"rollout_id": "other", "input": {}}])
    gateway.call("PATCH", "/api/rollouts/other", {"status": {"state": "running"}})
    with serve("vllm", models=(MODEL,)) as server:
        gateway.serve_from(server.base_url)
        steps = by_name(asyncio.run(controlled(gateway, agl_python, folder)))
    other = gateway.call("GET", "/api/rollouts/other")["rollout"]["status"]["state"]
    gateway.call("DELETE", "/api/rollouts/other")
    assert {name: step.status for name, step in steps.items()} == dict.fromkeys(
        ("controller", "controller_triplets"), Status.OK
    )
    assert (other, steps["controller"].say["version"]) == ("running", "1.0.2")
    assert sorted(path.name for path in folder.iterdir()) == ["tiny.py"]


@pytest.mark.parametrize(
    ("agent", "fault", "step", "reason"),
    [
        ("tiny:Missing", None, "controller", Reason.AGENT_CONSTRUCTION_FAILED),
        ("nowhere.to:Agent", None, "controller", Reason.AGENT_IMPORT_FAILED),
        ("tiny:Agent", "ids_dropped", "controller_triplets", Reason.TOKEN_IDS_MISSING),
        ("tiny:WithoutReward", None, "controller_triplets", Reason.REWARD_MISSING),
        ("tiny:Swallowing", "key_refused", "controller_triplets", Reason.GATEWAY_DROPS_KEY),
        ("tiny:Agent", "key_refused", "controller", Reason.GATEWAY_DROPS_KEY),
    ],
)
def test_what_ails_an_agent_is_named(
    gateway: Gateway, agl_python: Any, folder: Any, agent: str, fault: str | None, step: str, reason: Reason
) -> None:
    key = "sk-upstream-0123" if fault == "key_refused" else None
    fault = None if key else fault
    with serve("vllm", models=(MODEL,), fault=fault, key=key) as server:
        gateway.serve_from(server.base_url)
        steps = by_name(asyncio.run(controlled(gateway, agl_python, folder, agent)))
    assert steps[step].reason is reason, steps[step].say


def test_an_agent_whose_gateway_has_no_model_is_told_so(
    gateway: Gateway, agl_python: Any, folder: Any
) -> None:
    gateway.call("DELETE", "/api/models")
    steps = by_name(asyncio.run(controlled(gateway, agl_python, folder)))
    assert steps["controller"].reason is Reason.MODEL_NO_CHANNEL, steps["controller"].say


@pytest.mark.slow
def test_an_agent_that_does_not_end_is_ended_and_its_key_is_in_no_argument(
    gateway: Gateway, agl_python: Any, folder: Any
) -> None:
    async def watched() -> tuple[Steps, str]:
        work = asyncio.ensure_future(
            controlled(gateway, agl_python, folder, "tiny:Stuck", agent_deadline=8.0)
        )
        listed = ""
        while not work.done() and "_run_local_reconciler_worker" not in listed:
            await asyncio.sleep(0.2)
            listed = subprocess.run(
                ["ps", "-eww", "-o", "args"], capture_output=True, text=True, check=True
            ).stdout
        return by_name(await work), listed

    steps, listed = asyncio.run(watched())
    assert steps["controller"].reason is Reason.AGENT_OVERRAN
    assert "_run_local_reconciler_worker" in listed
    assert KEY not in listed


def test_a_python_without_agent_lightning_is_named(gateway: Gateway, openai_python: Any, folder: Any) -> None:
    steps = by_name(asyncio.run(controlled(gateway, openai_python, folder)))
    assert steps["controller"].reason is Reason.LIGHTNING_VERSION_UNFIT
