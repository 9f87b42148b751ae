"""Programs on a host over real SSH: their lines, their deadlines, and an end that reaches the far side."""

from __future__ import annotations

import asyncio
from typing import Any

from checks.hosts import ssh_ground
from checks.spec import HostSpec
from tests.ssh import Sshd


def run_there(spec: HostSpec, program: str = "command", *, seconds: float = 20.0, **request: Any) -> Any:
    async def go() -> Any:
        async with ssh_ground(spec, seconds=20.0) as ground:
            return await ground.run(program, request, run="run-over-ssh", seconds=seconds)

    return asyncio.run(go())


def a_command(*argv: str, **changes: Any) -> dict[str, Any]:
    """The request of a command that runs this."""
    known = {"argv": argv, "workdir": "", "activate": "", "bundle": "", "gpus": []}
    return {**known, "deadline": 15.0, "output_cap": 10_000, **changes}


def test_a_program_runs_on_the_host_and_returns_its_result(sshd: Sshd) -> None:
    answer = run_there(sshd.spec(), **a_command("echo", "here"))
    assert (answer["exit"], answer["tail"]) == (0, "here\n")
