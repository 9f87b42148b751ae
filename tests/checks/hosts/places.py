"""Hosts for tests of places: the same programs on this machine, under an environment that the test sets."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from checks import LaneSpec, Outcome, Step
from checks.hosts import Ground, GroundLost, LocalGround
from checks.ladder import climb
from checks.probes.grounds import OpenHost
from checks.reason import Reason
from checks.spec import HostSpec, Where
from tests.checks.local import Behaviour, LocalServer

PLACE = "host:gpu-1"


def host_of_tests(**changes: Any) -> HostSpec:
    """A host that shares the worker's machine, unless its address is changed."""
    known = {"code": "H-1", "name": "gpu-1", "address": "127.0.0.1", "user": "me"}
    return HostSpec(**{**known, **changes})


def with_environment(**variables: str) -> OpenHost:
    """Open this machine as a host whose login environment holds these."""

    @asynccontextmanager
    async def open_host(spec: HostSpec, seconds: float) -> AsyncIterator[Ground]:
        yield LocalGround(name=spec.name, extra=tuple(variables.items()))

    return open_host


@asynccontextmanager
async def closed(spec: HostSpec, seconds: float) -> AsyncIterator[Ground]:
    """A host that nobody gets into."""
    raise GroundLost(Reason.HOST_LOGIN_REFUSED, {"host": spec.name})
    yield


def climbed(server: LocalServer, open_host: OpenHost, **changes: Any) -> Outcome:
    """Climb the server's lane from the host."""
    spec: LaneSpec = server.spec(
        **{"where": Where.HOST, "host": host_of_tests(), "deadline": 20.0, **changes}
    )
    return asyncio.run(climb(spec, None, open_host))


def steps_at(outcome: Outcome, place: str) -> dict[str, Step]:
    """The steps of one place by name."""
    return {step.name: step for step in outcome.steps if step.place == place}


def tunnelling(port: int) -> Behaviour:
    """A proxy that answers CONNECT and leads to this port of loopback, wherever it was asked for."""

    def behave(connection: socket.socket, request: bytes) -> None:
        with socket.create_connection(("127.0.0.1", port)) as far:
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=_pour, args=(far, connection), daemon=True)
            back.start()
            _pour(connection, far)
            back.join(5)

    return behave


def _pour(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65_536):
            sink.sendall(part)
        sink.shutdown(socket.SHUT_WR)
