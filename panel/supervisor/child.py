"""One child process: how it starts, speaks, ends, and when it may start again."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from panel.orphans import die_with_parent

QUICK_S = 5.0  # a life shorter than this is a failure to start
QUICK_FAILURES = 4  # so many in a row, and nobody tries again
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
LONGEST_LINE = 16_384


@dataclass(frozen=True)
class Plan:
    """What to run. `last` children end after the others; `pass_fds` stay open in the child."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    pass_fds: tuple[int, ...] = ()
    last: bool = False


class Child:
    """A plan and the process that carries it out just now, if any. Times are monotonic seconds.

    `due` is when to start it again, None while that is not wanted; `mute` says that its output has ended.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.process: subprocess.Popen[bytes] | None = None
        self.due: float | None = None
        self.mute = False
        self._started = 0.0
        self._quick = 0
        self._rest = b""

    def start(self, now: float) -> None:
        """Start the process in a session of its own, so that the terminal's Ctrl-C does not reach it."""
        self.due, self.mute, self._started, self._rest = None, False, now, b""
        self.process = subprocess.Popen(
            self.plan.argv,
            env={**os.environ, "PREFLIGHT_SUPERVISOR": str(os.getpid()), **self.plan.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
            pass_fds=self.plan.pass_fds,
            preexec_fn=partial(die_with_parent, os.getpid()),  # no thread runs here
        )
        os.set_blocking(self.output, False)

    @property
    def output(self) -> int:
        """The descriptor of what the process says."""
        if self.process is None or self.process.stdout is None:
            raise ValueError(f"{self.plan.name} does not run")
        return self.process.stdout.fileno()

    @property
    def alive(self) -> bool:
        """Whether the process runs; asking reaps it when it has ended."""
        return self.process is not None and self.process.poll() is None

    def lines(self) -> Iterator[str]:
        """Yield the whole lines said since the last time; a line without end is cut at 16 KiB."""
        with contextlib.suppress(BlockingIOError):
            while piece := os.read(self.output, 65_536):
                self._rest += piece
            self.mute = True
        *whole, self._rest = self._rest.split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            whole, self._rest = [*whole, self._rest], b""
        for line in whole:
            yield line[:LONGEST_LINE].decode(errors="replace").rstrip()

    def terminate(self) -> None:
        """Ask the process to end in its own way."""
        if self.process is not None and self.alive:
            self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process and all that it started, and close its pipe."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process = None

    def ended(self, now: float) -> tuple[str, bool]:
        """Clean up after an end nobody asked for; return how it ended and whether to give up.

        Unless it gives up, `due` says when to start again: sooner after a long life.
        """
        code = self.process.returncode if self.process else 0
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        self.kill()
        self._quick = self._quick + 1 if now - self._started < QUICK_S else 0
        self.due = now + min(FIRST_PAUSE_S * 2 ** max(self._quick - 1, 0), LONGEST_PAUSE_S)
        return how, self._quick >= QUICK_FAILURES
