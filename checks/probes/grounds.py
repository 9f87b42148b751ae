"""The machines of one climb: the host's connection, opened when first needed and kept to the climb's end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Final

from checks.hosts import Ground, GroundLost, LocalGround, ssh_ground
from checks.reason import Reason
from checks.spec import HostSpec, LaneSpec

OPEN_SECONDS: Final = 20.0  # for the connection and the login, jump host included
CLOSE_SECONDS: Final = 5.0
HOST_PREFIX: Final = "host:"

OpenHost = Callable[[HostSpec, float], AbstractAsyncContextManager[Ground]]
"""Opens a host's connection within so many seconds. Raises GroundLost on entry."""


def by_ssh(spec: HostSpec, seconds: float) -> AbstractAsyncContextManager[Ground]:
    """Open the host by SSH."""
    return ssh_ground(spec, seconds=seconds)


class Grounds:
    """Owned by the ladder, one for each climb. A host that could not be opened is not tried again."""

    def __init__(self, spec: LaneSpec, open_host: OpenHost = by_ssh) -> None:
        self._spec = spec
        self._open = open_host
        self._opening = asyncio.Lock()
        self._entered = AsyncExitStack()
        self._host: Ground | GroundLost | None = None
        self.given_up: set[str] = set()
        """Places where a lower rung broke, while another place lets the climb go on."""

    async def host(self, seconds: float) -> Ground:
        """Return the host of the lane, opened within `seconds`. Raises GroundLost."""
        async with self._opening:
            if self._host is None:
                self._host = await self._opened(min(seconds, OPEN_SECONDS))
        if isinstance(self._host, GroundLost):
            raise self._host
        return self._host

    async def _opened(self, seconds: float) -> Ground | GroundLost:
        if self._spec.host is None:
            return GroundLost(Reason.HOST_DISCONNECTED, {})
        try:
            return await self._entered.enter_async_context(self._open(self._spec.host, seconds))
        except GroundLost as lost:
            return lost

    def worker(self) -> Ground:
        """Return the worker's own machine."""
        return LocalGround(name=self._spec.place)

    async def close(self) -> None:
        """Hang up. A connection that does not close in time is left to its own end."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._entered.aclose()
        except (TimeoutError, OSError):
            return
