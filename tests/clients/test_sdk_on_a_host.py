"""The third rung in the team's own Python and environment on a host, played by this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from checks import Masked, Reason, Status, run
from checks.probes.client import STEP_OF
from checks.simulator import serve
from checks.spec import Where
from tests.clients.sdk import KEY, bundle, lane, on_host, variables
from tests.ssh import Sshd

pytestmark = pytest.mark.clients


def test_the_bundle_wins_over_stale_variables_of_the_host(openai_python: Path) -> None:
    stale = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "sk-test-stale-0009"}
    with serve("vllm", key=KEY) as server:
        step = on_host(lane(server, "openai", ""), openai_python, stale)["sdk_openai"]
    assert (step.status, step.reason, step.place) == (Status.OK, None, "host:gpu-1")
    assert step.say["key_tail"] == KEY[-4:]


def test_a_stale_address_that_the_bundle_does_not_replace_is_named(openai_python: Path) -> None:
    with serve("vllm", key=KEY) as server:
        spec = lane(server, "openai", "", bundle=Masked(f"export OPENAI_API_KEY='{KEY}'\n"))
        step = on_host(spec, openai_python, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})["sdk_openai"]
    assert (step.status, step.reason) == (Status.DOWN, Reason.ENV_SHADOWED)


def test_a_dead_proxy_of_the_host_is_named_although_the_client_says_connection_error(
    openai_python: Path,
) -> None:
    with serve("vllm", key=KEY) as server:
        step = on_host(lane(server, "openai", ""), openai_python, {"HTTP_PROXY": "http://127.0.0.1:9"})[
            "sdk_openai"
        ]
    assert (step.status, step.reason) == (Status.DOWN, Reason.PROXY_UNREACHABLE)
    assert step.say["error"] == "openai.APIConnectionError: Connection error."


def test_a_name_without_proxy_goes_past_the_dead_one(openai_python: Path) -> None:
    with serve("vllm", key=KEY) as server:
        direct = bundle(variables(server, NO_PROXY="127.0.0.1"))
        spec = lane(server, "openai", "", bundle=direct)
        steps = on_host(spec, openai_python, {"HTTP_PROXY": "http://127.0.0.1:9"})
    assert steps["sdk_openai"].status is Status.OK


def test_a_library_that_the_team_does_not_have_is_no_fault(openai_python: Path) -> None:
    with serve("vllm", key=KEY) as server:
        steps = on_host(lane(server, "openai", ""), openai_python)
    assert (steps["sdk_openai"].status, steps["sdk_langchain"].status) == (Status.OK, Status.NOT_TESTABLE)
    assert steps["sdk_langchain"].reason is None


def test_an_activate_line_brings_the_teams_python(openai_python: Path) -> None:
    with serve("vllm", key=KEY) as server:
        line = f'export PATH="{openai_python.parent}:$PATH"'
        step = on_host(lane(server, "openai", ""), "/nowhere/python", activate=line)["sdk_openai"]
    assert step.status is Status.OK
    assert Path(step.say["python"]).parent == openai_python.parent


@pytest.mark.parametrize("library", ["openai", "langchain-openai", "litellm"])
def test_the_whole_rung_is_green_over_ssh(
    sshd: Sshd, library: str, library_python: Callable[[str], Path]
) -> None:
    with serve("vllm", key=KEY) as server:
        host = sshd.spec(activate=f'export PATH="{library_python(library).parent}:$PATH"')
        outcome = run(lane(server, library, "", host=host, where=Where.HOST, clients=()))
    step = next(step for step in outcome.steps if step.name == STEP_OF[library])
    assert (step.status, step.reason, step.place) == (Status.OK, None, f"host:{host.name}")
    assert step.say["key_tail"] == KEY[-4:]
