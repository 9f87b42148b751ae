"""Runs a recipe's command as a climb would, on this machine in place of a host."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from checks.hosts import Ground, LocalGround
from checks.outcome import Step, Told
from checks.probes.asking import Ask
from checks.probes.command import command
from checks.probes.grounds import Grounds
from checks.spec import HostSpec, LaneSpec, Masked, Recipe

HOST = HostSpec("h1", "gpu-a11", "127.0.0.1", "trainer")
BUNDLE = "export OPENAI_BASE_URL='http://127.0.0.1:9/v1'\nexport OPENAI_API_KEY='sk-test-bundle-0001'\n"


def spec_for(*argv: str, run: str = "run-of-a-command", **recipe: Any) -> LaneSpec:
    """A lane whose recipe runs these arguments."""
    return LaneSpec(
        id=run, base_url="http://127.0.0.1:9/v1", model="qwen3-8b", host=HOST, bundle=Masked(BUNDLE),
        recipe=Recipe(command=argv, **({"command_deadline": 20.0} | recipe)),
    )  # fmt: skip


def run_command(
    spec: LaneSpec, *, heard: Callable[[Told], None] | None = None, path: Path | None = None
) -> dict[str, Step]:
    """Return the steps by name. `path` goes before this machine's PATH."""
    extra = (("PATH", f"{path}{os.pathsep}{os.environ['PATH']}"),) if path else ()

    @asynccontextmanager
    async def here(host: HostSpec, seconds: float) -> AsyncIterator[Ground]:
        yield LocalGround(name=host.name, extra=extra)

    async def asked() -> tuple[Step, ...]:
        grounds = Grounds(spec, here)
        return await command(Ask(spec, monotonic() + 60, datetime.now(UTC), None, heard, grounds))

    return {step.name: step for step in asyncio.run(asked())}


def alive(pid: int) -> bool:
    """Tell whether the process still runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
