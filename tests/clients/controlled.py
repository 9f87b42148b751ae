"""A project whose agents a controller runs, and this machine in the place of its host."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from checks.hosts import Ground, LocalGround
from checks.spec import HostSpec
from tests.clients.agl import AGENTS


def project(folders: pytest.TempPathFactory) -> Path:
    """A folder with one module of agents, `tiny`."""
    folder = folders.mktemp("project")
    (folder / "tiny.py").write_text(AGENTS)
    return folder


@asynccontextmanager
async def host_here(spec: HostSpec, seconds: float) -> AsyncIterator[Ground]:
    """This machine, as `Grounds` opens a host."""
    yield LocalGround(name=spec.name)
