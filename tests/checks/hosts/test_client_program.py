"""The program that asks through a client, without one: what it needs, and what it says of what is missing."""

from __future__ import annotations

import ast
import asyncio
import sys
import time
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from checks import LaneKind, Reason, Rung, Status, Step
from checks.hosts import LocalGround
from checks.hosts.ground import source_of
from checks.probes.asking import Ask
from checks.probes.client import client
from checks.simulator import serve
from checks.spec import ClientSpec, LaneSpec
from tests.clients.sdk import KEY, NO_START_FILES, lane, on_host

NO_LIBRARY = sys.executable
SECONDS = 20.0


def ask(spec: LaneSpec) -> list[Step]:
    """Climb the third rung alone."""
    return list(asyncio.run(client(Ask(spec, time.monotonic() + spec.deadline, datetime.now(UTC)))).steps)


def of_host(python: str = NO_LIBRARY, deadline: float = SECONDS, **host: str) -> Step:
    with serve("vllm", key=KEY) as server:
        return on_host(lane(server, "openai", "", deadline=deadline), python, **host)["sdk_openai"]


def told(inside: str, bundle: str, **changes: Any) -> Any:
    """What the program tells with `inside` in the client's place."""
    asked = {"inside": inside, "bundle": bundle, "python": sys.executable, "asked": {}}
    request = {**asked, "login": False, "activate": "", "workdir": "", **changes}
    return asyncio.run(
        LocalGround(extra=NO_START_FILES).run("client", request, run="sdk-test", seconds=SECONDS)
    )


SHOW = "import os,sys; os.write(int(sys.argv[1]), os.environ['SHOWN'].encode() + b'\\n')"


@pytest.mark.parametrize("name", ["client", "inside_client"])
def test_it_is_read_by_the_oldest_python_that_hosts_have(name: str) -> None:
    ast.parse((resources.files("checks.hosts.programs") / f"{name}.py").read_text(), feature_version=(3, 8))
    ast.parse(source_of("client"), feature_version=(3, 8))


@pytest.mark.parametrize("login", [False, True])
def test_a_real_shell_reads_the_bundle(login: bool) -> None:
    bundle = 'export SHOWN=\'{"dollar": "$HOME`x`", "quote": 1}\'\n'
    assert told(SHOW, bundle, login=login)["dollar"] == "$HOME`x`"


def test_a_bundle_longer_than_a_pipe_is_read_whole() -> None:
    bundle = "# filler\n" * 20_000 + "export SHOWN='{\"last\": true}'\n"
    assert told(SHOW, bundle)["last"] is True


def test_the_client_sees_the_bundle_and_none_of_the_workers_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-of-the-worker")
    inside = (
        "import json,os,sys; os.write(int(sys.argv[1]), json.dumps({'names': list(os.environ)}).encode())"
    )
    names = told(inside, "export SHOWN=1\n")["names"]
    assert "SHOWN" in names
    assert "OPENAI_API_KEY" not in names


def test_a_library_that_prints_does_not_disturb_what_is_told() -> None:
    assert told("print('{\"noise\": 1}');" + SHOW, "export SHOWN='{\"a\": 1}'\n") == {
        "a": 1,
        "overran": False,
        "complaint": "",
    }


def test_a_flood_is_cut_and_does_not_last() -> None:
    inside = "import os,sys\nwhile True: os.write(int(sys.argv[1]), b'x' * 65536)"
    assert "overran" in told(inside, "")


@pytest.mark.parametrize(
    ("host", "lost"),
    [
        ({"python": "/nowhere/python"}, "python"),
        ({"workdir": "/nowhere"}, "workdir"),
        ({"activate": "source /nowhere/activate"}, "activate"),
    ],
)
def test_an_environment_that_cannot_be_entered_is_named(host: dict[str, str], lost: str) -> None:
    step = of_host(**host)
    assert (step.status, step.reason) == (Status.NOT_TESTABLE, Reason.CLIENT_ENVIRONMENT_BROKEN)
    assert step.say["lost"] == lost


def test_an_activate_line_that_hangs_ends_with_the_time() -> None:
    step = of_host(deadline=6.0, activate="sleep 600")
    assert (step.status, step.reason) == (Status.NOT_TESTABLE, Reason.DEADLINE_SPENT)


def test_a_python_without_the_library_is_not_testable_and_no_fault() -> None:
    step = of_host()
    assert (step.status, step.reason) == (Status.NOT_TESTABLE, None)


def test_a_client_that_is_asked_for_and_not_installed_names_the_command() -> None:
    with serve("vllm", key=KEY) as server:
        (step,) = ask(lane(server, "openai", "", clients=(ClientSpec("openai", "2.15.0"),)))
    assert (step.status, step.reason) == (Status.NOT_TESTABLE, Reason.CLIENT_MISSING)
    assert step.say["command"] == "manage.py clients install openai==2.15.0"


@pytest.mark.parametrize(
    "changes",
    [{"clients": ()}, {"bundle": None}, {"lane": LaneKind.REPLAY}],
    ids=str,
)
def test_a_lane_with_nothing_to_ask_is_one_step_without_a_reason(changes: dict[str, Any]) -> None:
    with serve("vllm", key=KEY) as server:
        (step,) = ask(lane(server, "openai", NO_LIBRARY, **changes))
    assert (step.rung, step.name, step.status, step.reason) == (Rung.SDK, "sdk", Status.NOT_TESTABLE, None)


def test_a_spent_budget_asks_nothing() -> None:
    with serve("vllm", key=KEY) as server:
        spec = lane(server, "openai", NO_LIBRARY)
        question = Ask(spec, time.monotonic() + SECONDS, datetime.now(UTC), tokens_left=1)
        (step,) = asyncio.run(client(question)).steps
    assert (step.status, step.reason) == (Status.NOT_TESTABLE, Reason.BUDGET_SPENT)


def test_nothing_of_the_request_is_an_argument_of_a_process(tmp_path: Path) -> None:
    inside = (
        "import json,os,sys\n"
        "lines = [open(f'/proc/{pid}/cmdline').read() for pid in (os.getpid(), os.getppid())]\n"
        "os.write(int(sys.argv[1]), json.dumps({'lines': lines}).encode())"
    )
    found = told(
        inside, "export OPENAI_API_KEY='sk-canary-000011112222'\n", asked={"key": "sk-canary-000011112222"}
    )
    assert "sk-canary" not in str(found["lines"])
