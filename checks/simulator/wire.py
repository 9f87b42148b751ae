"""Ways to misuse an open connection: hanging, dripping, cutting, flooding, resetting."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
from functools import lru_cache

from checks.simulator.http import Reply, Script, head_of

HANG_SECONDS = 120.0
DRIP_SECONDS = 1.0
"""Between two bytes of a dripping answer."""
MIB = 1024 * 1024
ABORT = struct.pack("ii", 1, 0)
"""The linger option that turns a close into an RST."""


async def hang(writer: asyncio.StreamWriter) -> None:
    """Say nothing for longer than any client waits, yet not for ever."""
    await asyncio.sleep(HANG_SECONDS)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close in the ordinary way, without a byte."""
    writer.close()


async def reset(writer: asyncio.StreamWriter) -> None:
    """Close with an RST instead of a FIN."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
    writer.transport.abort()


def drip(reply: Reply) -> Script:
    """Send the head at once and the body one byte a second."""

    async def script(writer: asyncio.StreamWriter) -> None:
        writer.write(_head(reply, len(reply.body)))
        for byte in reply.body:
            writer.write(bytes((byte,)))
            await writer.drain()
            await asyncio.sleep(DRIP_SECONDS)

    return script


def cut(reply: Reply) -> Script:
    """Announce the whole body, send half of it and close."""

    async def script(writer: asyncio.StreamWriter) -> None:
        writer.write(_head(reply, len(reply.body)) + reply.body[: len(reply.body) // 2])
        await writer.drain()

    return script


def cut_stream(reply: Reply) -> Script:
    """Send a chunked body whose last, closing chunk never comes."""

    async def script(writer: asyncio.StreamWriter) -> None:
        writer.write(
            head_of(reply.status, {"content-type": reply.content_type, "transfer-encoding": "chunked"})
        )
        part = reply.body[: len(reply.body) // 2]
        writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        await writer.drain()

    return script


def flood(mebibytes: int) -> Script:
    """Send a JSON string of that size, as fast as the client takes it."""

    async def script(writer: asyncio.StreamWriter) -> None:
        head = {"content-type": "application/json", "content-length": str(mebibytes * MIB + 2)}
        writer.write(head_of(200, head) + b'"')
        for _ in range(mebibytes):
            writer.write(b"x" * MIB)
            await writer.drain()
        writer.write(b'"')

    return script


def header_flood(count: int) -> Script:
    """Send that many header lines of a kilobyte before any body."""

    async def script(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(count):
            writer.write(f"x-padding-{number}: ".encode() + b"x" * 1000 + b"\r\n")
            await writer.drain()
        writer.write(b"content-length: 2\r\n\r\n{}")

    return script


def raw(data: bytes) -> Script:
    """Send these bytes, whatever they are, and close."""

    async def script(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return script


@lru_cache
def bomb(mebibytes: int) -> Reply:
    """A small gzip body that unpacks to that many mebibytes of JSON string."""
    packed = gzip.compress(b'"' + b"0" * (mebibytes * MIB) + b'"', compresslevel=1)
    return Reply(200, packed, headers={"content-encoding": "gzip"})


def _head(reply: Reply, length: int) -> bytes:
    headers = {"content-type": reply.content_type, "content-length": str(length), "connection": "close"}
    return head_of(reply.status, headers | dict(reply.headers))
