"""Foreign servers on loopback: started with a deadline, ended with their whole group."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx

STOP_SECONDS = 10


@contextlib.contextmanager
def running(
    command: list[str], *, folder: Path, environment: Mapping[str, str], page: str, seconds: float
) -> Iterator[None]:
    """Run the command in `folder` until `page` has answered 200; end it and its children on leaving.

    Its words go to `folder/log`. Raises AssertionError with the last of them when it is not up in time.
    """
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        ) as process,
    ):
        try:
            _wait(process, page, seconds, folder / "log")
            yield
        finally:
            _end(process)


def free_port() -> int:
    """A port of loopback that nobody listened on a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], page: str, seconds: float, log: Path) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(page, timeout=5, trust_env=False).status_code == 200:
                return
        time.sleep(0.25)
    raise AssertionError(f"{page} did not answer:\n{log.read_text()[-2000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
            return
        os.killpg(process.pid, signal.SIGKILL)
