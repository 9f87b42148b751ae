"""Lanes for the third rung: a scripted server, the bundle a team would export for it, one client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path
from time import monotonic
from typing import Any

from checks import EgressPolicy, LaneKind, LaneSpec, Masked, Rung, Step
from checks.dialects import Block, Document, Entry, write
from checks.hosts import Ground, LocalGround
from checks.probes.asking import Ask
from checks.probes.client import client
from checks.probes.grounds import Grounds
from checks.simulator import Server
from checks.spec import ClientSpec, HostSpec, Where

KEY = "sk-test-simulated-0001"
MODEL = "qwen3-8b"
NO_START_FILES = (("HOME", "/nowhere"),)
LOOPBACK = EgressPolicy((ip_network("127.0.0.0/8"),))


def variables(server: Server, **changes: str) -> dict[str, str]:
    """What the bundle of an agent lane sets; an empty change leaves a name out."""
    known = {
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_BASE": server.base_url,
        "OPENAI_API_KEY": KEY,
        "OPENAI_MODEL": MODEL,
        "LITELLM_MODEL": f"openai/{MODEL}",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    return {name: value for name, value in {**known, **changes}.items() if value}


def bundle(values: Mapping[str, str]) -> Masked:
    """The file for a shell, as the panel writes it."""
    return Masked(write("sh", Document((Block(tuple(Entry(*pair) for pair in values.items())),))))


def lane(server: Server, name: str, python: Path | str, **changes: Any) -> LaneSpec:
    """The third rung alone, on the worker, through one client."""
    known = {
        "id": f"sdk-{server.base_url}",
        "base_url": server.base_url,
        "model": MODEL,
        "key": Masked(KEY),
        "lane": LaneKind.REPLAY if name == "litellm" else LaneKind.AGENT,
        "rungs": (Rung.SDK,),
        "egress": LOOPBACK,
        "bundle": bundle(variables(server)),
        "clients": (ClientSpec(name, "", str(python)),),
        "deadline": 60.0,
    }
    return LaneSpec(**{**known, **changes})


def on_host(
    spec: LaneSpec, python: Path | str, extra: Mapping[str, str] = {}, **host: str
) -> dict[str, Step]:
    """Climb from a host with that Python and these variables in its environment; steps by name."""
    machine = HostSpec("host", "gpu-1", "127.0.0.1", "trainer", python=str(python), **host)

    @asynccontextmanager
    async def opened(host: HostSpec, seconds: float) -> AsyncIterator[Ground]:
        yield LocalGround(host.name, extra=(*NO_START_FILES, *extra.items()))

    known = {name: getattr(spec, name) for name in LaneSpec.__dataclass_fields__}
    spec = LaneSpec(**{**known, "host": machine, "where": Where.HOST, "clients": ()})
    ask = Ask(spec, monotonic() + spec.deadline, datetime.now(UTC), grounds=Grounds(spec, opened))
    return {step.name: step for step in asyncio.run(client(ask)).steps}
