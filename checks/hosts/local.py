"""The worker's own machine as a place: a program runs there as it would on a host."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from checks.hosts.ground import BOOT, GRACE_SECONDS, MAX_LINE, GroundLost, Heard, listen, opening
from checks.reason import Reason

# Nothing else of the worker's environment is seen: neither keys nor proxies nor a virtual environment.
KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SystemRoot")


@dataclass(frozen=True, slots=True)
class LocalGround:
    """Programs run by `python` (the worker's own by default) in a clean environment plus `extra`."""

    name: str = "panel"
    python: str = sys.executable
    extra: tuple[tuple[str, str], ...] = ()

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
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *(self.python, "-I", "-B", "-c", BOOT),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=kept | dict(self.extra),
            start_new_session=True,
            limit=MAX_LINE,
        )
        stdin, stdout = process.stdin, process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("Both were asked to be pipes.")
        try:
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                stdin.write(opening(program, request, run=run, seconds=seconds))
                with contextlib.suppress(ConnectionError):
                    await stdin.drain()
                return await listen(stdout.readline, heard)
        except TimeoutError as error:
            raise GroundLost(Reason.DEADLINE_SPENT, {}) from error
        finally:
            await _ended(process)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Close the lifeline, which ends the program and all it started; then make sure."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
