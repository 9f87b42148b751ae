"""The real gateway and controller, with the team's agent on a host behind a real OpenSSH server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checks import Reason, Rung, Status, run
from checks.simulator import serve
from checks.spec import Recipe, Where
from tests.clients.agl import MODEL, Gateway
from tests.clients.controlled import project
from tests.ssh import Sshd

pytestmark = [pytest.mark.clients, pytest.mark.slow]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory)


def climbed(gateway: Gateway, sshd: Sshd, python: Path, folder: Path, **changes: Any) -> Any:
    recipe = Recipe(python=str(python), workdir=str(folder), agent="tiny:Agent", question="Hello?")
    rungs = (Rung.NETWORK, Rung.CHANNEL, Rung.ROLLOUT)
    spec = gateway.spec(rungs=rungs, deadline=120.0, host=sshd.spec(), recipe=recipe, **changes)
    return run(spec)


@pytest.mark.parametrize("where", [Where.WORKER, Where.HOST, Where.BOTH])
def test_a_gateway_is_green_to_the_fifth_rung(
    gateway: Gateway, sshd: Sshd, agl_python: Path, folder: Path, where: Where
) -> None:
    with serve("vllm", models=(MODEL,)) as server:
        gateway.serve_from(server.base_url)
        outcome = climbed(gateway, sshd, agl_python, folder, where=where)
    assert (outcome.status, outcome.rung) == (Status.OK, Rung.ROLLOUT), outcome
    assert {"triplets", "controller", "controller_triplets"} <= {step.name for step in outcome.steps}
    assert gateway.rollouts() == []


def test_a_keyed_upstream_breaks_the_fifth_rung(
    gateway: Gateway, sshd: Sshd, agl_python: Path, folder: Path
) -> None:
    with serve("vllm", models=(MODEL,), key="sk-upstream-0123456789") as server:
        gateway.serve_from(server.base_url)
        outcome = climbed(gateway, sshd, agl_python, folder)
    assert (outcome.rung, outcome.reason) == (Rung.ROLLOUT, Reason.GATEWAY_DROPS_KEY)
    assert gateway.rollouts() == []
