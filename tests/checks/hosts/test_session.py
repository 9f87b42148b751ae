"""Programs on a host over real SSH: their lines, their deadlines, and an end that reaches the far side."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from checks.hosts import GroundLost, Heard, login, ssh_ground
from checks.hosts.ground import opening
from checks.hosts.session import CONNECTIONS_PER_HOST, command
from checks.reason import Reason
from checks.spec import HostSpec
from tests.checks.hosts.doors import answering_logins, host, lost, passing_on
from tests.parts import require
from tests.ssh import Sshd

RUN = f"run-{os.getpid()}"  # processes of another test process on this machine are not ours to end


def run_there(
    spec: HostSpec, request: Mapping[str, Any], *, seconds: float = 20.0, heard: Heard | None = None
) -> Any:
    """Run the program "command" on the host."""

    async def go() -> Any:
        async with ssh_ground(spec, seconds=20.0) as ground:
            return await ground.run("command", request, run=RUN, seconds=seconds, heard=heard)

    return asyncio.run(go())


def a_command(*argv: str, **changes: Any) -> dict[str, Any]:
    """The request of a command that runs this."""
    known = {"argv": argv, "workdir": "", "activate": "", "bundle": "", "gpus": []}
    return {**known, "deadline": 15.0, "output_cap": 10_000, **changes}


def processes(mark: str) -> list[str]:
    """Return the command lines of this machine's processes that hold the mark."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # gone meanwhile
            found.append(entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return [line for line in found if line.startswith(mark)]


async def until_gone(mark: str) -> bool:
    for _ in range(200):
        if not processes(mark):
            return True
        await asyncio.sleep(0.05)
    return False


async def until_there(mark: str) -> None:
    for _ in range(200):
        if processes(mark):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never ran")


def test_a_program_runs_on_the_host_and_returns_its_result(sshd: Sshd) -> None:
    answer = run_there(sshd.spec(), a_command("echo", "here"))
    assert (answer["exit"], answer["tail"]) == (0, "here\n")


def test_what_a_program_tells_meanwhile_is_heard(sshd: Sshd) -> None:
    heard: list[Mapping[str, Any]] = []
    run_there(sshd.spec(), a_command("sh", "-c", "echo one; sleep 1; echo two"), heard=heard.append)
    assert "".join(event["text"] for event in heard if event["event"] == "output") == "one\ntwo\n"
    assert {event["event"] for event in heard} <= {"output", "gpu"}


def test_several_programs_share_one_connection(sshd: Sshd) -> None:
    async def go() -> list[str]:
        async with ssh_ground(sshd.spec(), seconds=20.0) as ground:
            runs = [
                ground.run("command", a_command("echo", name), run=f"{RUN}-{name}", seconds=20.0)
                for name in ("a", "b")
            ]
            return [answer["tail"] for answer in await asyncio.gather(*runs)]

    assert asyncio.run(go()) == ["a\n", "b\n"]


def test_a_program_past_its_deadline_is_ended_on_the_host(sshd: Sshd) -> None:
    with pytest.raises(GroundLost) as told:
        run_there(sshd.spec(), a_command("sleep", "987.1"), seconds=1.5)
    assert (told.value.reason, told.value.say["host"]) == (Reason.DEADLINE_SPENT, "gpu-1")
    assert asyncio.run(until_gone("sleep 987.1"))


def test_cancelling_ends_the_program_on_the_host(sshd: Sshd) -> None:
    async def go() -> bool:
        async with ssh_ground(sshd.spec(), seconds=20.0) as ground:
            running = asyncio.create_task(
                ground.run("command", a_command("sleep", "987.2"), run=RUN, seconds=60.0)
            )
            await until_there("sleep 987.2")
            running.cancel()
            await asyncio.wait([running])
            return await until_gone("sleep 987.2")

    assert asyncio.run(go())


def test_a_line_that_breaks_ends_the_program_on_the_host(sshd: Sshd) -> None:
    async def go() -> bool:
        async with ssh_ground(sshd.spec(), seconds=20.0) as ground:
            running = asyncio.create_task(
                ground.run("command", a_command("sleep", "987.3"), run=RUN, seconds=60.0)
            )
            await until_there("sleep 987.3")
            ground.connection.abort()  # type: ignore[attr-defined]
            await asyncio.wait([running])
            assert isinstance(running.exception(), GroundLost)
            return await until_gone("sleep 987.3")

    assert asyncio.run(go())


def test_a_python_that_is_not_there_is_named(sshd: Sshd) -> None:
    with pytest.raises(GroundLost) as told:
        run_there(sshd.spec(python="/opt/no such/python3"), a_command("true"))
    assert told.value.reason is Reason.HOST_PYTHON_MISSING
    assert "/opt/no such/python3" in told.value.say["said"]


def test_a_command_that_ends_before_the_program_is_sent_was_no_python() -> None:
    def at_once(process: asyncssh.SSHServerProcess[bytes]) -> None:
        process.stdout.write(b"This account is currently not available.\n")
        process.exit(1)

    async def go() -> GroundLost:
        async with answering_logins(at_once) as port:  # type: ignore[arg-type]
            return await lost(host(port))

    told = asyncio.run(go())
    assert told.reason is Reason.HOST_PYTHON_MISSING
    assert told.say["said"] == "This account is currently not available."


def test_a_python_at_a_path_with_blanks_runs(sshd: Sshd, tmp_path: Path) -> None:
    python = tmp_path / "my python"
    python.write_text(f'#!/bin/sh\nexec {sshd.spec().python} "$@"\n')
    python.chmod(0o755)
    assert run_there(sshd.spec(python=str(python)), a_command("echo", "here"))["exit"] == 0


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
def test_any_login_shell_runs_the_command_alike(sshd: Sshd, shell: str) -> None:
    require(shutil.which(shell), shell)
    sent = opening("command", a_command("echo", "here"), run=RUN, seconds=20.0)
    with subprocess.Popen(
        [shell, "-c", command(sshd.spec().python)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(sent)
        process.stdin.flush()
        assert b'"tail": "here\\n"' in process.stdout.read()


def test_a_host_that_hangs_up_on_a_program_broke_off() -> None:
    async def leave(process: asyncssh.SSHServerProcess[bytes]) -> None:
        process.stdout.write(b'{"event": "output", "text": "half"}\n')
        await process.stdout.drain()
        process.get_extra_info("connection").abort()

    async def go() -> Reason:
        async with answering_logins(leave) as port:
            return (await lost(host(port))).reason

    assert asyncio.run(go()) is Reason.HOST_DISCONNECTED


MANY_LINES = b'{"event": "gpu", "used": "%b"}\n' % (b"9" * 4096)


@pytest.mark.parametrize("line", [b"x" * 8192, MANY_LINES], ids=["one line", "many"])
def test_a_flood_is_cut_off(line: bytes) -> None:
    async def flood(process: asyncssh.SSHServerProcess[bytes]) -> None:
        while not process.stdin.at_eof():
            process.stdout.write(line)
            await process.stdout.drain()
            await asyncio.sleep(0)

    async def go() -> Reason:
        async with answering_logins(flood) as port:
            return (await lost(host(port))).reason

    assert asyncio.run(go()) is Reason.ANSWER_TOO_LARGE


def test_a_host_that_falls_asleep_meanwhile_broke_off(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> Reason:
        async with (
            passing_on(sshd.port) as (port, asleep),
            ssh_ground(sshd.spec(port=port), seconds=20) as ground,
        ):
            asleep.set()
            with pytest.raises(GroundLost) as told:
                await ground.run("command", a_command("true"), run=RUN, seconds=60.0)
            return told.value.reason

    monkeypatch.setitem(login._ALONE, "keepalive_interval", 0.2)
    assert asyncio.run(go()) is Reason.HOST_DISCONNECTED


def test_a_host_that_stalls_after_the_login_is_silent() -> None:
    async def stall(process: asyncssh.SSHServerProcess[bytes]) -> None:
        process.stdout.write(b"Welcome!\n")
        await process.stdin.read()
        process.exit(0)

    async def go() -> Reason:
        async with answering_logins(stall) as port:
            return (await lost(host(port), run_seconds=0.5)).reason

    assert asyncio.run(go()) is Reason.HOST_SILENT


def test_noise_on_stderr_holds_nothing_up_and_a_banner_is_passed_over() -> None:
    async def noisy(process: asyncssh.SSHServerProcess[bytes]) -> None:
        for _ in range(500):
            process.stderr.write(b"warning\n" * 1024)
            await process.stderr.drain()
        process.stdout.write(b'Welcome!\n{"not": "ours"}\n{"event": "result", "value": 7}\n')
        process.exit(0)

    async def go() -> Any:
        async with answering_logins(noisy) as port, ssh_ground(host(port), seconds=10.0) as ground:
            return await ground.run("command", {}, run=RUN, seconds=30.0)

    assert asyncio.run(go()) == 7


def test_a_host_has_so_many_connections_at_once_and_no_more() -> None:
    open_now = most = 0

    class Counting(asyncssh.SSHServer):
        def auth_completed(self) -> None:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)

        def connection_lost(self, exc: Exception | None) -> None:
            nonlocal open_now
            open_now -= 1

    async def visit(port: int) -> None:
        async with ssh_ground(host(port), seconds=20.0):
            await asyncio.sleep(0.2)

    async def go() -> None:
        async with answering_logins(lambda _: asyncio.sleep(0), server_factory=Counting) as port:
            await asyncio.gather(*(visit(port) for _ in range(3 * CONNECTIONS_PER_HOST)))

    asyncio.run(go())
    assert most == CONNECTIONS_PER_HOST


def test_waiting_for_a_place_ends_with_its_seconds_and_takes_none() -> None:
    async def go() -> Reason:
        async with answering_logins(lambda _: asyncio.sleep(0)) as port:
            held = [ssh_ground(host(port), seconds=10.0) for _ in range(CONNECTIONS_PER_HOST)]
            for ground in held:
                await ground.__aenter__()
            told = await lost(host(port), seconds=0.3)
            for ground in held:
                await ground.__aexit__(None, None, None)
            async with ssh_ground(host(port), seconds=10.0):
                return told.reason

    assert asyncio.run(go()) is Reason.DEADLINE_SPENT


def test_the_private_key_stands_in_no_log_line(sshd: Sshd, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="asyncssh"):
        run_there(sshd.spec(), a_command("true"))
    assert "Auth for user" in caplog.text
    assert not [line for line in sshd.key.splitlines() if line in caplog.text]
