"""A real dry run of Agent-Lightning 0.3.0, with its pins: asked for by name, since it is 614 MB."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from checks import LaneSpec, Masked, Reason, Status
from checks.outcome import Step
from checks.probes.grounds import Grounds
from checks.probes.legacy import legacy_run
from checks.simulator import serve
from checks.spec import HostSpec, LaneKind, Recipe
from tests.clients.agl import LOOPBACK, MODEL, RUN, ask_of
from tests.clients.controlled import host_here

pytestmark = [pytest.mark.clients, pytest.mark.legacy, pytest.mark.slow]

KEY = "sk-upstream-0123456789"


def legacy(base_url: str, python: Path, key: str = KEY, **recipe: Any) -> dict[str, Step]:
    spec = LaneSpec(
        RUN,
        base_url,
        MODEL,
        Masked(key),
        LaneKind.ROLLOUT,
        egress=LOOPBACK,
        host=HostSpec("h1", "gpu-1", "127.0.0.1", "nobody"),
        recipe=Recipe(generation="0.x", python=str(python), **recipe),
    )
    ask = ask_of(spec, seconds=150.0, grounds=Grounds(spec, host_here))
    return {step.name: step for step in asyncio.run(legacy_run(ask))}


def test_trainer_proxy_and_store_yield_triplets_with_ids(agl0_python: Path) -> None:
    with serve("vllm", models=(MODEL,), key=KEY) as server:
        steps = legacy(server.base_url, agl0_python)
    assert {step.status for step in steps.values()} == {Status.OK}, steps
    assert int(steps["legacy_triplets"].say["response_ids"]) > 0


def test_an_endpoint_without_token_ids_is_no_use_to_a_trainer(agl0_python: Path) -> None:
    with serve("vllm", models=(MODEL,), key=KEY, fault="ids_dropped") as server:
        steps = legacy(server.base_url, agl0_python)
    assert steps["legacy_triplets"].reason is Reason.TOKEN_IDS_MISSING


def test_a_wrong_key_is_named_and_the_run_comes_to_its_end(agl0_python: Path) -> None:
    with serve("vllm", models=(MODEL,), key="another") as server:
        steps = legacy(server.base_url, agl0_python, agent_deadline=5.0)
    assert steps["legacy"].status is Status.DOWN, steps
    legacy_step = steps["legacy"]
    assert Reason.AUTH_INVALID_KEY in legacy_step.candidates, (dict(legacy_step.say), legacy_step.evidence)
