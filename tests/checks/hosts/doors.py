"""SSH servers that do not behave, each for one test, in the test's own loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncssh

from checks import Masked
from checks.hosts import GroundLost, ssh_ground
from checks.spec import HostSpec
from tests.ssh import LOOPBACK

HOST_KEY = asyncssh.generate_private_key("ssh-ed25519")
LOGIN_KEY = asyncssh.generate_private_key("ssh-ed25519")

Speak = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def host(port: int, **changes: Any) -> HostSpec:
    """A host on that port whose key is `HOST_KEY`."""
    known: dict[str, Any] = {
        "code": "h1",
        "name": "gpu-1",
        "address": "127.0.0.1",
        "port": port,
        "user": "trainer",
        "host_keys": (HOST_KEY.export_public_key().decode(),),
        "private_key": Masked(LOGIN_KEY.export_private_key().decode()),
        "egress": LOOPBACK,
    }
    return HostSpec(**{**known, **changes})


@asynccontextmanager
async def speaking(speak: Speak) -> AsyncIterator[int]:
    """Serve plain TCP on a free port, where each connection is handled by `speak` and closed."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await speak(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def answering_logins(
    process: Callable[[asyncssh.SSHServerProcess[bytes]], Awaitable[None]], **options: Any
) -> AsyncIterator[int]:
    """Serve SSH, where the login key is taken and every command is handled by `process`."""
    keys = asyncssh.import_authorized_keys(LOGIN_KEY.export_public_key().decode())
    known: dict[str, Any] = {"authorized_client_keys": keys, "encoding": None, "process_factory": process}
    server = await asyncssh.listen("127.0.0.1", 0, server_host_keys=[HOST_KEY], **{**known, **options})
    async with server:
        yield server.get_port()


@asynccontextmanager
async def passing_on(port: int) -> AsyncIterator[tuple[int, asyncio.Event]]:
    """Pass everything on to another port of loopback, until the event is set: then keep it, silently."""
    asleep = asyncio.Event()

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while part := await source.read(65_536):
            if not asleep.is_set():
                sink.write(part)

    async def both_ways(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
        finally:
            far_writer.close()

    async with speaking(both_ways) as own:
        yield own, asleep


async def lost(spec: HostSpec, *, seconds: float = 10.0, run_seconds: float = 5.0) -> GroundLost:
    """Open the host, run a program, and return why that did not come to its end."""
    try:
        async with ssh_ground(spec, seconds=seconds) as ground:
            await ground.run("command", {}, run="run-at-a-door", seconds=run_seconds)
    except GroundLost as reason:
        return reason
    raise AssertionError("nothing was lost")
