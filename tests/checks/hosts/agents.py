"""Runs a sample agent as rung 4 does, on this machine in place of a host."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from checks.hosts import Ground, LocalGround
from checks.outcome import Step, Told
from checks.probes.agent import agent
from checks.probes.asking import Ask
from checks.probes.grounds import Grounds
from checks.spec import HostSpec, LaneSpec, Masked, Recipe
from tests.checks.local import LOOPBACK

KEY = "sk-canary-agent-0123456789"
PROJECT = str(Path(__file__).parent / "projects")
NUMBERS = itertools.count(os.getpid() * 1000)
HOST = HostSpec("h1", "gpu-a11", "127.0.0.1", "trainer", workdir=PROJECT)


def bundle(base_url: str, key: str = KEY, model: str = "qwen3-8b") -> Masked:
    """What a team would export for its shell."""
    lines = (f"OPENAI_BASE_URL='{base_url}'", f"OPENAI_API_BASE='{base_url}'")
    lines += (f"OPENAI_API_KEY='{key}'", f"MODEL='{model}'")
    return Masked("".join(f"export {line}\n" for line in lines))


def spec_for(base_url: str, name: str, *, key: str = KEY, model: str = "qwen3-8b", **recipe: Any) -> LaneSpec:
    """A lane with the recipe of one sample agent."""
    known: dict[str, Any] = {"agent": name, "agent_deadline": 20.0}
    return LaneSpec(
        id=f"run-of-{name}-{next(NUMBERS)}", base_url=base_url, model=model, key=Masked(key), host=HOST,
        egress=LOOPBACK, bundle=bundle(base_url, key, model), recipe=Recipe(**{**known, **recipe}),
        deadline=60.0,
    )  # fmt: skip


def run_agent(spec: LaneSpec, *, heard: Callable[[Told], None] | None = None) -> dict[str, Step]:
    """Return the steps by name."""

    @asynccontextmanager
    async def here(host: HostSpec, seconds: float) -> AsyncIterator[Ground]:
        yield LocalGround(name=host.name)

    async def asked() -> tuple[Step, ...]:
        grounds = Grounds(spec, here)
        ask = Ask(spec, monotonic() + spec.deadline, datetime.now(UTC), spec.token_budget, heard, grounds)
        return (await agent(ask)).steps

    return {step.name: step for step in asyncio.run(asked())}
