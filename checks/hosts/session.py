"""Programs on a host: an open connection, one session a program, and an end that reaches the far side."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

import asyncssh

from checks.hosts.ground import BOOT, GRACE_SECONDS, MAX_COMPLAINT, Ground, GroundLost, Heard, listen, opening
from checks.hosts.login import logged_in
from checks.reason import Reason
from checks.spec import HostSpec

CONNECTIONS_PER_HOST: Final = 4  # at once, of this process
START_SECONDS: Final = 20.0  # from the login to the program's first word; slow start files of a shell count
WAIT_SECONDS: Final = 0.05  # between two looks for a free place

_Door = tuple[str, int, str]
_doors: dict[_Door, threading.BoundedSemaphore] = {}


@asynccontextmanager
async def ssh_ground(spec: HostSpec, *, seconds: float) -> AsyncIterator[Ground]:
    """Log in to the host within `seconds` and give it as a place to run programs.

    Leaving, also by cancellation, ends what still runs there. Raises GroundLost with the reason why there
    is no login; its `say` names the machine ("host") that refused, which may be a jump host. While
    `CONNECTIONS_PER_HOST` are open from this process it waits, within `seconds` too.
    """
    ends = monotonic() + seconds
    async with _place(spec, ends), logged_in(spec, seconds=ends - monotonic()) as connection:
        yield SshGround(spec, connection)


@dataclass(frozen=True, slots=True)
class SshGround:
    """A host that is logged in to."""

    spec: HostSpec
    connection: asyncssh.SSHClientConnection

    @property
    def name(self) -> str:
        """The host's name."""
        return self.spec.name

    async def run(
        self,
        program: str,
        request: Mapping[str, Any],
        *,
        run: str,
        seconds: float,
        heard: Heard | None = None,
    ) -> Any:
        """See `Ground.run`."""
        text = opening(program, request, run=run, seconds=seconds)
        try:
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                async with _process(self.connection, command(self.spec.python)) as process:
                    return await _Conversation(process, seconds).run(text, heard)
        except TimeoutError as error:
            raise GroundLost(Reason.DEADLINE_SPENT, {"host": self.name}) from error
        except (asyncssh.Error, OSError, EOFError) as error:
            raise GroundLost(Reason.HOST_DISCONNECTED, {"host": self.name}) from error
        except GroundLost as lost:
            raise GroundLost(lost.reason, {"host": self.name, **lost.say}, lost.failure) from lost


def command(python: str) -> str:
    """Return what the login shell is given; any of them reads it alike, and is replaced by Python."""
    return f"exec {shlex.join((python, '-I', '-B', '-c', BOOT))}"


class _Conversation:
    """One program and what it says. `told` is whether it ever said a word, beside a shell's greetings."""

    def __init__(self, process: asyncssh.SSHClientProcess[bytes], seconds: float) -> None:
        self.process = process
        self.told = False
        self.greeting = b""
        self.starts_by = asyncio.get_running_loop().time() + min(START_SECONDS, seconds)

    async def run(self, text: bytes, heard: Heard | None) -> Any:
        complaint = asyncio.ensure_future(_drained(self.process.stderr))
        try:
            with contextlib.suppress(BrokenPipeError):  # it has ended already; what it left is still read
                self.process.stdin.write(text)
            return await listen(self._read_line, heard)
        except GroundLost as lost:
            if lost.reason is Reason.ANSWER_TOO_LARGE:
                self.process.close()  # it would only write on
            if lost.reason is Reason.HOST_DISCONNECTED and not self.told and await self._refused():
                said = _last_line(await complaint or self.greeting)
                raise GroundLost(Reason.HOST_PYTHON_MISSING, {"said": said}) from lost
            raise
        finally:
            complaint.cancel()

    async def _read_line(self) -> bytes:
        try:
            async with asyncio.timeout_at(None if self.told else self.starts_by):
                line: bytes = await self.process.stdout.readline()
        except TimeoutError as error:
            raise GroundLost(Reason.HOST_SILENT, {}) from error
        self.told = self.told or line.startswith(b"{")
        if line and not self.told:
            self.greeting = line[:MAX_COMPLAINT]
        return line

    async def _refused(self) -> bool:
        """Whether the command ended with a status that says so: a signal or a broken line gives none."""
        await self.process.wait_closed()
        return bool(self.process.exit_status)


async def _drained(stream: asyncssh.SSHReader[bytes]) -> bytes:
    """Read a stream to its end, so that it never holds up the other, and return its beginning."""
    kept = b""
    while part := await stream.read(MAX_COMPLAINT):
        kept = (kept + part)[:MAX_COMPLAINT]
    return kept


def _last_line(complaint: bytes) -> str:
    lines = complaint.decode("utf-8", "replace").split("\n")
    said = next((line for line in reversed(lines) if line.strip()), "")
    return " ".join(said.split())[:200]


@asynccontextmanager
async def _process(
    connection: asyncssh.SSHClientConnection, line: str
) -> AsyncIterator[asyncssh.SSHClientProcess[bytes]]:
    """Start it; at the end close its lifeline and wait a moment for it to clean up behind itself."""
    process: asyncssh.SSHClientProcess[bytes] = await connection.create_process(line, encoding=None)
    try:
        yield process
    finally:
        with contextlib.suppress(asyncssh.Error, OSError, TimeoutError):
            process.stdin.write_eof()
            async with asyncio.timeout(GRACE_SECONDS):
                await process.wait_closed()
        process.close()


@asynccontextmanager
async def _place(spec: HostSpec, ends: float) -> AsyncIterator[None]:
    """Hold one of the host's places; threads of this process, each with a loop of its own, share them."""
    key = (spec.address, spec.port, spec.user)
    door = _doors.setdefault(key, threading.BoundedSemaphore(CONNECTIONS_PER_HOST))
    while not door.acquire(blocking=False):
        if monotonic() >= ends:
            raise GroundLost(Reason.DEADLINE_SPENT, {"host": spec.name})
        await asyncio.sleep(WAIT_SECONDS)
    try:
        yield
    finally:
        door.release()
