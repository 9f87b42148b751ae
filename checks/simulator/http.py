"""The least of HTTP/1.1 a scripted server needs: one request in, one reply out, all of it bounded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote

HEAD_LIMIT = 65_536
"""Bytes of request line and headers; more ends the connection."""
BODY_LIMIT = 8 * 1024 * 1024
"""Bytes of a request body; more is answered 413."""

Script = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes whatever it likes to the open connection, which is closed afterwards."""


class BadRequest(Exception):
    """What arrived is not a request; the text is the plain body of the 400."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came. Header names are lower case; `body` holds the raw bytes."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    keep_alive: bool = True

    @property
    def document(self) -> object:
        """The body read as JSON; None when it is empty or no JSON."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole, well-formed answer. `delay` is waited out, in seconds, before its first byte."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


Answer = Reply | Script


def as_json(document: object, status: int = 200, **headers: str) -> Reply:
    """A JSON reply; underscores in header names become hyphens."""
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return Reply(status, body, headers={name.replace("_", "-"): text for name, text in headers.items()})


def as_text(text: str, status: int = 200, content_type: str = "text/plain; charset=utf-8") -> Reply:
    """A reply of plain text or, by its content type, of a web page."""
    return Reply(status, text.encode(), content_type)


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request, None when the client has gone. Raises BadRequest on anything else."""
    first = await reader.read(1)
    if not first:
        return None
    if not first.isalpha():
        raise BadRequest("Invalid HTTP request received.")
    try:
        head = first + await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise BadRequest("Request header fields are too large.") from error
    return await _with_body(_parse_head(head), reader)


def _parse_head(head: bytes) -> Request:
    """Split request line and headers. Raises BadRequest when they are not in HTTP's form."""
    first, *rest = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise BadRequest("Invalid HTTP request received.")
    headers = {}
    for line in filter(None, rest):
        name, colon, value = line.partition(":")
        if not colon:
            raise BadRequest("Invalid HTTP header line.")
        headers[name.strip().lower()] = value.strip()
    path, _, query = parts[1].partition("?")
    keep_alive = parts[2] == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    return Request(parts[0], unquote(path), dict(parse_qsl(query)), headers, b"", keep_alive)


async def _with_body(request: Request, reader: asyncio.StreamReader) -> Request:
    """Read the body that the headers announce. Raises BadRequest for a length that is none."""
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > BODY_LIMIT:
        raise BadRequest("Request body length is not acceptable.")
    body = await reader.readexactly(int(length)) if int(length) else b""
    return Request(request.method, request.path, request.query, request.headers, body, request.keep_alive)


def head_of(status: int, headers: Mapping[str, str]) -> bytes:
    """Status line and headers as bytes, with the empty line that ends them."""
    phrase = HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {text}" for name, text in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def write_reply(writer: asyncio.StreamWriter, reply: Reply, *, close: bool, bodiless: bool) -> None:
    """Send the reply. `bodiless` keeps the length and leaves the body out, as HEAD wants it."""
    headers = {"content-length": str(len(reply.body))}
    if reply.body:
        headers["content-type"] = reply.content_type
    headers["connection"] = "close" if close else "keep-alive"
    writer.write(head_of(reply.status, headers | dict(reply.headers)) + (b"" if bodiless else reply.body))
    await writer.drain()
