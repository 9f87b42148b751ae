"""`python -m checks.simulator`: several servers, timed faults, a clean end, clear refusals."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from checks.simulator.__main__ import order
from tests.checks.simulated import plainly

COMMAND = [sys.executable, "-m", "checks.simulator"]
KEY = "sk-canary-simulator-0001"


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command, ended by SIGTERM on leaving."""
    environment = os.environ | {"SIMULATED_KEY": KEY}
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=10)


def listening(process: subprocess.Popen[str]) -> str:
    """The base URL in the next line that says it listens."""
    assert process.stdout is not None
    word, base_url, _family = process.stdout.readline().split()
    assert word == "listening"
    return base_url


def test_several_servers_listen_until_sigterm_and_leave_with_zero() -> None:
    with running("--listen", "127.0.0.1:0=vllm", "--listen", "127.0.0.1:0=one-api:key_refused") as process:
        vllm, relay = listening(process), listening(process)
        assert plainly.get(f"{vllm}/models").json()["data"][0]["id"] == "qwen3-8b"
        assert plainly.get(f"{relay}/models", headers={"authorization": "Bearer x"}).status_code == 401
    assert process.returncode == 0


def test_the_key_comes_from_a_variable_and_is_never_shown() -> None:
    arguments = ("--listen", "127.0.0.1:0=openai", "--key-env", "SIMULATED_KEY", "--models", "a,b")
    with running(*arguments) as process:
        base_url = listening(process)
        headers = {"authorization": f"Bearer {KEY}"}
        assert plainly.get(f"{base_url}/models").status_code == 401
        listed = plainly.get(f"{base_url}/models", headers=headers).json()["data"]
        assert [one["id"] for one in listed] == ["a", "b"]
    assert KEY not in "".join(process.communicate())


def refused(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command run to its end."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=10)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give at least one --listen"),
        (("--listen", "vllm"), "is not HOST:PORT=FAMILY"),
        (("--listen", "127.0.0.1:0=vlm"), "there is no family 'vlm'; there are: vllm,"),
        (("--listen", "127.0.0.1:0=vllm:nothing_loaded"), "cannot do 'nothing_loaded'; these can: lmstudio"),
        (("--listen", "127.0.0.1:0=vllm:certificate_expired"), "needs a certificate"),
        (("--listen", "127.0.0.1:70000=vllm"), "no port is above 65535"),
        (("--listen", "127.0.0.1:0=vllm:asleep@period=60,for=60"), "less than its period"),
        (("--listen", "127.0.0.1:0=vllm", "--key-env", "NOT_SET_ANYWHERE"), "NOT_SET_ANYWHERE is not set"),
        (("--listen", "127.0.0.1:0=vllm", "--models", ","), "--models names no model"),
    ],
)
def test_a_bad_argument_is_refused_with_two_and_a_sentence(arguments: tuple[str, ...], said: str) -> None:
    ended = refused(*arguments)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        ended = refused("--listen", f"127.0.0.1:{port}=vllm")
    assert ended.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in ended.stderr


def test_a_timed_fault_holds_for_the_end_of_each_period() -> None:
    timed = order("127.0.0.1:8101=vllm:asleep@period=600,for=120")
    assert [timed.fault_at(float(now)) for now in (0, 479, 480, 599, 600)] == [
        None,
        None,
        "asleep",
        "asleep",
        None,
    ]


@pytest.mark.parametrize(("now", "seconds"), [(0.0, 480.0), (479.0, 1.0), (480.0, 120.0), (599.5, 0.5)])
def test_a_timed_fault_is_looked_at_again_when_it_changes(now: float, seconds: float) -> None:
    assert order("127.0.0.1:8101=vllm:asleep@period=600,for=120").next_change(now) == seconds


def test_a_steady_fault_never_changes() -> None:
    steady = order("127.0.0.1:8101=vllm:asleep")
    assert (steady.fault_at(0), steady.next_change(0)) == ("asleep", 86_400.0)


def test_the_faults_are_listed() -> None:
    ended = refused("--faults")
    assert ended.returncode == 0
    assert "quota_empty" in ended.stdout


def test_a_timed_fault_comes_and_goes_while_the_command_runs() -> None:
    with running("--listen", "127.0.0.1:0=vllm:engine_dead@period=2,for=1") as process:
        health = listening(process).removesuffix("/v1") + "/health"
        seen: set[int] = set()
        end = time.monotonic() + 5
        while seen != {200, 503} and time.monotonic() < end:
            seen.add(plainly.get(health).status_code)
    assert seen == {200, 503}
