"""The connection: one resolution, every address judged, one attempt at the judged address."""

from __future__ import annotations

import asyncio
import socket
import ssl
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from checks.egress.certificates import read_certificate
from checks.egress.faults import Refused
from checks.egress.policy import judge, parse_address
from checks.egress.progress import Progress
from checks.egress.target import Target
from checks.egress.trust import looking
from checks.outcome import Certificate, FailureKind, Phase
from checks.spec import EgressPolicy

READ_SIZE: Final = 65_536


@dataclass(frozen=True, slots=True)
class Line:
    """An open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def drop(self) -> None:
        """Close at once: no farewell is worth waiting for a server that may never answer it."""
        self.writer.transport.abort()


async def dial(target: Target, policy: EgressPolicy, progress: Progress) -> Line:
    """Open a new connection to `target`. Raises Refused for a denied address and what sockets raise."""
    connected = await plug(target, policy, progress)
    if target.context is None:
        return await _open(connected, target, None)
    with progress.during(Phase.TLS):
        line = await _open(connected, target, target.context)
        progress.certificate = _certificate_of(line)
        return line


async def plug(target: Target, policy: EgressPolicy, progress: Progress) -> socket.socket:
    """Resolve, judge and connect, and say nothing yet. Raises as `dial` does."""
    with progress.during(Phase.DNS):
        found = await _resolve(target)
        progress.addresses = tuple(str(address) for address in found)
    for address in found:
        denial = judge(address, policy)
        if denial is not None:
            raise Refused(FailureKind.DENIED, str(denial))
    progress.address = found[0]
    with progress.during(Phase.CONNECT):
        connected = await _connect(found[0], target.port)
        progress.peer = _peer(found[0], target.port)
        return connected


async def look_at_certificate(
    target: Target, address: IPv4Address | IPv6Address, seconds: float
) -> Certificate | None:
    """Return the leaf that an untrusted server shows, by a handshake without verification on the same
    judged address; None when it shows none within `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            line = await _open(await _connect(address, target.port), target, looking())
            try:
                return _certificate_of(line)
            finally:
                line.drop()
    except (OSError, EOFError):
        return None


async def _resolve(target: Target) -> list[IPv4Address | IPv6Address]:
    """All addresses of the host, in the order of the system's preference."""
    literal = parse_address(target.host)
    if literal is not None:
        return [literal]
    answers = await asyncio.get_running_loop().getaddrinfo(
        target.host, target.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
    )
    found = [parse_address(str(answer[4][0])) for answer in answers]
    addresses = list(dict.fromkeys(address for address in found if address is not None))
    if not addresses:
        raise socket.gaierror(socket.EAI_NODATA, "The name has no address")
    return addresses


async def _connect(address: IPv4Address | IPv6Address, port: int) -> socket.socket:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    connecting = socket.socket(family, socket.SOCK_STREAM)
    try:
        connecting.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connecting, (str(address), port))
    except BaseException:
        connecting.close()
        raise
    return connecting


async def _open(connected: socket.socket, target: Target, context: ssl.SSLContext | None) -> Line:
    """Put streams over the socket; the name that the URL gave is the one TLS verifies."""
    server_name = target.host if context is not None else None
    reader, writer = await asyncio.open_connection(
        sock=connected, ssl=context, server_hostname=server_name, limit=READ_SIZE
    )
    return Line(reader, writer)


def _peer(address: IPv4Address | IPv6Address, port: int) -> str:
    """The far end as it was dialled: the socket itself forgets it when the server resets at once."""
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def _certificate_of(line: Line) -> Certificate | None:
    """None when the leaf cannot be read: an odd certificate is no reason to fail a handshake that TLS
    itself accepted."""
    tls: ssl.SSLObject = line.writer.get_extra_info("ssl_object")
    der = tls.getpeercert(binary_form=True)
    try:
        return read_certificate(der, tls.version() or "") if der else None
    except ValueError:
        return None
