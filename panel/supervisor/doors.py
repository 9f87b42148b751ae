"""The doors of one start: the lock on its data folder, the port it owns, the page that must answer."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import http.client
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

PATIENCE_S = 2.0


class DoorShut(Exception):
    """This start cannot go on; the message says why and what the person can do."""


@contextlib.contextmanager
def only_one(path: Path, address: str) -> Iterator[None]:
    """Hold the data folder's lock; raises DoorShut, naming the other start, when it is held already."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DoorShut(
                f"Preflight runs from this data folder already ({file.read().strip() or 'just starting'}). "
                "Stop it there with Ctrl-C, or give this one its own folder: PREFLIGHT_DATA_DIR=…"
            ) from error
        file.truncate(0)
        file.write(f"process {os.getpid()}, {address}")
        file.flush()
        yield


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """Hold the listening socket of an address; raises DoorShut when it cannot be had.

    Bound before anything starts: nobody else can answer there, and a connection that comes while the
    web server starts again waits instead of being refused.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, OverflowError) as error:
        raise DoorShut(f"{host} port {port} is no address of this machine.") from error
    with socket.socket(family, kind, protocol) as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind(address)
            door.listen(128)
        except OSError as error:
            raise DoorShut(_why_not(host, port, error)) from error
        yield door


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken by another program. Choose another: --port {port + 1}"
    if error.errno == errno.EACCES:
        return f"Port {port} needs more rights than this user has. Choose one above 1023: --port 8000"
    return f"{host} port {port} cannot be had: {error.strerror}."


def answering(host: str, port: int, host_header: str, *, patience_s: float = PATIENCE_S) -> str | None:
    """Return the id of the start that answers /healthz there in good health, None when nobody does."""
    connection = http.client.HTTPConnection(host, port, timeout=patience_s)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        connection.request("GET", "/healthz", headers={"Host": host_header})
        answer = connection.getresponse()
        if answer.status == 200:
            return str(json.loads(answer.read(4096)).get("start", ""))
    return None


def accepts(path: Path) -> bool:
    """Tell whether somebody listens on a Unix socket."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


def accepted_host() -> str:
    """Return a Host header that the panel accepts."""
    named = [name for name in settings.ALLOWED_HOSTS if not name.startswith((".", "*"))]
    return named[0] if named else "localhost"
