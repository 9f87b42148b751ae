"""All five rungs from a real host over SSH, green; and each of the ways in which they go red."""

from __future__ import annotations

import dataclasses
import itertools
import os
from pathlib import Path
from typing import Any

import pytest

from checks import LaneKind, LaneSpec, Masked, Outcome, Reason, Rung, Status, run
from checks.simulator import serve
from checks.spec import Recipe, Where
from tests.checks.hosts.agents import PROJECT
from tests.checks.hosts.commands import alive
from tests.checks.local import LOOPBACK
from tests.clients.sdk import KEY, bundle, variables
from tests.ssh import Sshd

pytestmark = pytest.mark.clients
NUMBERS = itertools.count(os.getpid() * 1000)
STUBBORN = "trap '' TERM HUP; (setsid sh -c \"trap '' TERM; echo \\$\\$ > {pid}; sleep 90\" &); sleep 90"


def climbed(
    sshd: Sshd, python: Path, *, lane: LaneKind = LaneKind.AGENT, fault: str | None = None,
    host: dict[str, Any] | None = None, recipe: dict[str, Any] | None = None, **changes: Any,
) -> Outcome:  # fmt: skip
    """Climb from the host with the team's Python, agent and command."""
    known = {"agent": "agents:Honest", "agent_deadline": 20.0, "command": ("sh", "-c", "echo trained")}
    activate, model = f'export PATH="{python.parent}:$PATH"', "qwen3-8b"
    with serve("vllm", key=KEY, fault=fault) as server:
        spec = LaneSpec(
            f"whole-{next(NUMBERS)}", server.base_url, model, Masked(KEY), lane=lane, egress=LOOPBACK,
            rungs=tuple(Rung), deadline=150.0, where=Where.HOST,
            bundle=bundle(variables(server, MODEL=model)),
            host=sshd.spec(**{"activate": activate, "workdir": PROJECT} | (host or {})),
            recipe=Recipe(**known | (recipe or {})),
        )  # fmt: skip
        return run(dataclasses.replace(spec, **changes))


def told(outcome: Outcome) -> str:
    """What to read when the outcome is another one."""
    return "\n".join(
        f"{step.rung} {step.name} {step.status} {step.reason} {step.say}" for step in outcome.steps
    )


@pytest.mark.parametrize("lane", [LaneKind.AGENT, LaneKind.ROLLOUT])
def test_all_rungs_are_green_from_the_host(sshd: Sshd, openai_python: Path, lane: LaneKind) -> None:
    outcome = climbed(sshd, openai_python, lane=lane)
    assert (outcome.status, outcome.rung) == (Status.OK, Rung.ROLLOUT), told(outcome)
    steps = {step.name: step.status for step in outcome.steps if step.status is Status.OK}
    wanted = {"connect", "chat", "sdk_openai", "command", "leftovers"}
    wanted |= {"dry_samples", "dry_reward"} if lane is LaneKind.ROLLOUT else {"agent_answer"}
    assert wanted <= steps.keys()
    places = {step.place for step in outcome.steps if step.name in wanted - {"dry_samples", "dry_reward"}}
    assert places == {"host:gpu-1"}


def test_a_changed_host_key_blocks_the_climb(sshd: Sshd, openai_python: Path) -> None:
    other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDIhz2GK/XCUj4i6Q5yQJNL1MKMQEtfcYhu0qzuQhrvB"
    outcome = climbed(sshd, openai_python, host={"host_keys": (other,)})
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.HOST_KEY_CHANGED), told(outcome)


def test_a_refused_login_is_named(sshd: Sshd, openai_python: Path) -> None:
    outcome = climbed(sshd, openai_python, host={"user": "nobody-of-this-machine"})
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.HOST_LOGIN_REFUSED), told(outcome)


def test_a_stale_env_file_on_the_host_breaks_the_third_rung(
    sshd: Sshd, openai_python: Path, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-the-key-before-this-one\n")
    outcome = climbed(sshd, openai_python, host={"workdir": str(tmp_path)})
    assert (outcome.status, outcome.rung) == (Status.DOWN, Rung.SDK), told(outcome)
    assert outcome.reason is Reason.ENV_FILE_STALE


def test_a_proxy_in_the_hosts_environment_is_named(sshd: Sshd, openai_python: Path) -> None:
    line = f'export PATH="{openai_python.parent}:$PATH" http_proxy=http://127.0.0.1:9'
    outcome = climbed(sshd, openai_python, host={"activate": line})
    assert outcome.status is Status.DOWN, told(outcome)
    assert outcome.reason in (Reason.PROXY_UNREACHABLE, Reason.PROXY_ENV_INTERCEPTS_LOOPBACK)


def test_an_endpoint_without_token_ids_breaks_the_rollout_lane(sshd: Sshd, openai_python: Path) -> None:
    outcome = climbed(sshd, openai_python, lane=LaneKind.ROLLOUT, fault="ids_dropped", rungs=(Rung.ROLLOUT,))
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.TOKEN_IDS_MISSING), told(outcome)


def test_a_command_that_forks_and_ignores_sigterm_is_gone_from_the_host_after_its_deadline(
    sshd: Sshd, openai_python: Path, tmp_path: Path
) -> None:
    command = ("sh", "-c", STUBBORN.format(pid=tmp_path / "pid"))
    outcome = climbed(
        sshd, openai_python, rungs=(Rung.ROLLOUT,), recipe={"command": command, "command_deadline": 5.0}
    )
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.COMMAND_OVERRAN), told(outcome)
    assert not alive(int((tmp_path / "pid").read_text()))
