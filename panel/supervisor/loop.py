"""The supervisor's loop: it passes on what children say, starts them again, and ends them in order.

One thread does it all, since a process that has threads cannot fork in safety.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType

from checks.redact import redact
from panel.supervisor.child import Child, Plan

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_S = 6.0  # for requests and probes in flight; what is cut is run again from its row


class Supervisor:
    """Keeps children running until it is asked to stop. `failure` says why it gave up, else ""."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.failure = ""
        self._write = write
        self._children: list[Child] = []
        self._asked = 0
        self._ending = False
        self._wake_read, self._wake_write = os.pipe()

    @property
    def stopping(self) -> bool:
        """Whether somebody asked to stop, or a child cannot be kept running."""
        return bool(self._asked or self.failure)

    def start(self, plan: Plan) -> None:
        """Start a child and keep it running from now on."""
        child = Child(plan)
        self._children.append(child)
        child.start(time.monotonic())

    def say(self, text: str) -> None:
        """Tell the person something; a terminal that is gone counts as a wish to stop."""
        try:
            self._write(text)
        except OSError:
            self._asked += 1
            self._write = lambda text: None

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Take Ctrl-C, SIGTERM and the end of the terminal as the wish to stop; end all children after."""
        before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        os.set_blocking(self._wake_write, False)
        signal.set_wakeup_fd(self._wake_write)
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:  # nohup
                signal.signal(number, self._ask)
        try:
            yield
        finally:
            self._end_all()
            signal.set_wakeup_fd(-1)
            for number, handler in before.items():
                signal.signal(number, handler)

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> bool:
        """Keep turning until `ready()`; False when the seconds are over or all is to stop."""
        deadline = time.monotonic() + seconds
        while not self.stopping and time.monotonic() < deadline:
            if ready():
                return True
            self._turn(0.05)
        return False

    def run(self) -> None:
        """Keep the children running until all is to stop."""
        while not self.stopping:
            self._turn(1.0)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._asked += 1

    def _turn(self, seconds: float) -> None:
        """Wait for output, an end or a signal for at most `seconds`; then do what is due."""
        speaking = {child.output: child for child in self._children if child.process and not child.mute}
        ready, _, _ = select.select([self._wake_read, *speaking], [], [], seconds)
        if self._wake_read in ready:
            os.read(self._wake_read, 512)
        for descriptor in ready:
            if descriptor in speaking:
                self._pass_on(speaking[descriptor])
        for child in self._children:
            self._look_after(child)

    def _pass_on(self, child: Child) -> None:
        for line in child.lines():
            self.say(f"{child.plan.name:<9} | {redact(line, ())}")

    def _look_after(self, child: Child) -> None:
        now = time.monotonic()
        if child.process is not None and not child.alive and not self._ending:
            self._pass_on(child)
            how, hopeless = child.ended(now)
            if hopeless:
                self.failure = f"{child.plan.name} does not stay up ({how}); what it said last is above."
            else:
                self.say(f"{child.plan.name} ended ({how}); it starts again.")
        if child.due is not None and child.due <= now and not self._ending:
            child.start(now)

    def _end_all(self) -> None:
        """End web and worker first and the broker last; a second wish to stop cuts the waiting short."""
        self._ending = True
        patience = self._asked + 1
        for last in (False, True):
            group = [child for child in self._children if child.plan.last is last]
            for child in group:
                child.terminate()
            deadline = time.monotonic() + GRACE_S
            while (
                any(child.alive for child in group) and time.monotonic() < deadline and self._asked < patience
            ):
                self._turn(0.05)
            for child in group:
                if child.process is not None:
                    self._pass_on(child)
                child.kill()
