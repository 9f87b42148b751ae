"""Where a program runs: a host by SSH, or the worker's own machine; the same program, the same lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final, Protocol

from checks.outcome import Failure
from checks.reason import Reason

# Reads the length of the program, then the program, from stdin, and runs it; what follows is its request.
BOOT: Final = (
    "import sys;s=sys.stdin.buffer;"
    "exec(compile(s.read(int(s.readline())).decode(),'preflight','exec'),{'__name__':'preflight'})"
)
MAX_LINE: Final = 1 << 20  # bytes of one event
MAX_LINES_TOTAL: Final = 8 << 20  # bytes of all events of one program
MAX_COMPLAINT: Final = 16_384  # bytes kept of what a program says on stderr
# What goes between the frame and a program that asks for it.
BEFORE: Final = {
    "reach": ("shell_environment",),
    "surroundings": ("shell_environment",),
    "client": ("shell_environment",),
    "agent": ("shell_environment", "relay"),
    "command": ("shell_environment",),
    "facts": ("gathering", "gpu_tools", "software"),
}
GRACE_SECONDS: Final = 6.0  # past its own deadline a program is given up

Heard = Callable[[Mapping[str, Any]], None]


class GroundLost(Exception):
    """A program could not be run to its end there. `say` holds values for the sentence on the page."""

    def __init__(self, reason: Reason, say: Mapping[str, str], failure: Failure | None = None) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.say = say
        self.failure = failure


class Ground(Protocol):
    """A place where programs run. `name` is shown to people: a host's name, a zone."""

    @property
    def name(self) -> str:
        """The place's name."""

    async def run(
        self,
        program: str,
        request: Mapping[str, Any],
        *,
        run: str,
        seconds: float,
        heard: Heard | None = None,
    ) -> Any:
        """Run `checks/hosts/programs/<program>.py` and return what its `main` returned.

        `run` marks all processes it starts, and `seconds` is its hard deadline, which the far side keeps
        by itself. Events other than the last are given to `heard` as they come. Raises GroundLost.
        """


@cache
def source_of(program: str) -> str:
    """Return the text that is sent: the frame, the program, and the call that starts it."""
    folder = resources.files("checks.hosts.programs")
    names = ("frame", *BEFORE.get(program, ()), program)
    parts = [(folder / f"{name}.py").read_text("utf-8") for name in names]
    bodies = [part.replace("from __future__ import annotations\n", "") for part in parts]
    return "\n".join(["from __future__ import annotations", *bodies, "serve(main)", ""])


def opening(program: str, request: Mapping[str, Any], *, run: str, seconds: float) -> bytes:
    """Return the bytes that go to the program's stdin, which then stays open as its lifeline."""
    text = source_of(program).encode()
    asked = json.dumps({**request, "run": run, "seconds": seconds}).encode()
    return b"%d\n%b%d\n%b" % (len(text), text, len(asked), asked)


async def listen(read_line: Callable[[], Awaitable[bytes]], heard: Heard | None) -> Any:
    """Read events until the result; return it. Raises GroundLost for a program that ends without one,
    overruns, floods or faults."""
    total = 0
    while True:
        line = await _line(read_line)
        total += len(line)
        if total > MAX_LINES_TOTAL:
            raise GroundLost(Reason.ANSWER_TOO_LARGE, {})
        if not line:
            raise GroundLost(Reason.HOST_DISCONNECTED, {})
        event = _event(line)
        if event is None:  # a login banner, a warning of a shell's start file
            continue
        if event["event"] == "result":
            return event.get("value")
        if event["event"] == "overran":
            raise GroundLost(Reason.DEADLINE_SPENT, {})
        if event["event"] == "fault":
            raise GroundLost(Reason.ENGINE_FAULT, {"error": f"{event.get('error')}: {event.get('text')}"})
        if heard is not None and event["event"] != "up":
            heard(event)


async def _line(read_line: Callable[[], Awaitable[bytes]]) -> bytes:
    try:
        line = await read_line()
    except (ValueError, asyncio.LimitOverrunError) as error:
        raise GroundLost(Reason.ANSWER_TOO_LARGE, {}) from error
    if len(line) > MAX_LINE:
        raise GroundLost(Reason.ANSWER_TOO_LARGE, {})
    return line


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None
