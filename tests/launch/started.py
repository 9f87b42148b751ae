"""A real `manage.py up` in a process of its own, and what a test wants to know of it."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from panel.orphans import die_with_parent

ROOT = Path(__file__).resolve().parent.parent.parent
READY_S = 60.0  # on a busy machine; a calm one needs three to six


def free_port() -> int:
    """Return a port that nobody has just now."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        port: int = door.getsockname()[1]
        return port


def until(true: Callable[[], object], seconds: float = READY_S) -> bool:
    """Wait for something to become true; False when it did not in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.05)
    return False


def _as_from_a_shell(parent: int) -> None:
    """Take no ignored signals from this process, which may run under nohup; end with it."""
    for ignored in (signal.SIGHUP, signal.SIGINT):
        signal.signal(ignored, signal.SIG_DFL)
    die_with_parent(parent)


class Started:
    """One start: `said` is what it wrote so far, `exit_code` waits for its end."""

    def __init__(self, folder: Path, *arguments: str, port: int | None = None) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.log = folder.parent / f"{folder.name}-{self.port}-{time.monotonic_ns()}.log"
        environment = {
            **os.environ,
            "PREFLIGHT_DATA_DIR": str(folder),
            "PREFLIGHT_NO_BOOTSTRAP": "1",
            "PREFLIGHT_MARK": str(self.log),
        }
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(self.port), *arguments],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=partial(_as_from_a_shell, os.getpid()),
            )

    @property
    def said(self) -> str:
        """All that it wrote so far."""
        return self.log.read_text(errors="replace")

    def is_ready(self) -> bool:
        """Wait until it says that the page is there."""
        until(lambda: "Preflight is ready" in self.said or self.process.poll() is not None)
        return "Preflight is ready" in self.said

    def page(self, path: str) -> int:
        """Return the status of a page, 0 when nobody answers."""
        page = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(page), contextlib.suppress(OSError):
            page.request("GET", path)
            return page.getresponse().status
        return 0

    def pids(self) -> dict[int, str]:
        """Return each process of this start with its command.

        Found by the mark in its environment; the broker writes its title over that, and names its socket.
        """
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                ours = f"PREFLIGHT_MARK={self.log}".encode() in (folder / "environ").read_bytes()
                if command and (ours or str(self.folder / "run") in command):
                    found[int(folder.name)] = command
        return found

    def pid_of(self, word: str) -> int:
        """Wait for a process whose command has the word, and return the oldest."""
        assert until(lambda: any(word in command for command in self.pids().values())), self.said
        return min(pid for pid, command in self.pids().items() if word in command)

    def links(self) -> list[str]:
        """Return the set-up links that it printed."""
        return re.findall(r"/setup/[\w-]+/?", self.said)

    def exit_code(self, seconds: float = 90.0) -> int:
        """Wait for its end."""
        return self.process.wait(seconds)


@contextlib.contextmanager
def start(folder: Path, *arguments: str, port: int | None = None) -> Iterator[Started]:
    """Start, and leave nothing behind whatever the test does."""
    started = Started(folder, *arguments, port=port)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.process.wait(15)
        for pid in started.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        started.process.wait()
