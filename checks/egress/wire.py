"""HTTP/1.1 on an open connection: one request, one answer, each read under a cap."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import h11
import httpx

from checks.egress.dial import READ_SIZE, Line
from checks.egress.faults import Refused
from checks.egress.progress import Progress
from checks.outcome import FailureKind, Phase

MAX_BODY_BYTES: Final = 1_048_576
MAX_DECOMPRESSED_BYTES: Final = 4_194_304
MAX_HEAD_BYTES: Final = 65_536  # also the longest line: h11 keeps no line outside its head
MAX_HEADERS: Final = 200
MAX_INTERIM_ANSWERS: Final = 8
MAX_PARTS: Final = 16_384  # a body in one-byte chunks costs time, not space
MAX_ENCODINGS: Final = 2
FIRST_BYTES: Final = 512

_WITH_LENGTH: Final = frozenset({"POST", "PUT", "PATCH"})  # also of a body that is empty
_HTTP: Final = b"HTTP/"
_RAW_DEFLATE: Final = -15
_ANY_ZLIB: Final = 47


@dataclass(frozen=True, slots=True)
class Request:
    """What goes out, its headers complete; `httpx.Request` costs as much to make as the answer to read."""

    method: str
    url: httpx.URL
    headers: Sequence[tuple[bytes, bytes]] = field(repr=False)
    content: bytes = field(repr=False)


def request_of(method: str, url: httpx.URL, headers: Mapping[str, str], content: bytes) -> Request:
    """Return the request with these headers, its host and its length. Raises UnicodeError for what is not
    ASCII."""
    sent = [(b"Host", url.netloc)] if url.host else []
    sent += [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
    if content or method in _WITH_LENGTH:
        sent.append((b"Content-Length", b"%d" % len(content)))
    return Request(method, url, sent, content)


class Conversation:
    """One request written out, and the parser of its answer."""

    __slots__ = ("_connection", "_message")

    def __init__(self, request: Request) -> None:
        """Raises h11.LocalProtocolError for a request that cannot be written."""
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        head = h11.Request(method=request.method, target=request.url.raw_path, headers=list(request.headers))
        parts = [self._connection.send(head)]
        if request.content:
            parts.append(self._connection.send(h11.Data(data=request.content)))
        parts.append(self._connection.send(h11.EndOfMessage()))
        self._message = b"".join(part for part in parts if part)

    async def run(self, line: Line, progress: Progress) -> None:
        """Send, then read head and body into `progress`."""
        with progress.during(Phase.WAIT):
            line.writer.write(self._message)
            await line.writer.drain()
            answer = await self._head(line, progress)
        progress.status = answer.status_code
        progress.headers = tuple((name.decode(), value.decode("latin-1")) for name, value in answer.headers)
        if len(progress.headers) > MAX_HEADERS:
            raise Refused(FailureKind.TOO_LARGE, f"The answer has more than {MAX_HEADERS} headers.")
        with progress.during(Phase.TRANSFER):
            await self._body(line, progress)

    async def _head(self, line: Line, progress: Progress) -> h11.Response:
        for _ in range(MAX_INTERIM_ANSWERS):
            event = await self._event(line, progress)
            if isinstance(event, h11.Response):
                return event
        raise Refused(FailureKind.PROTOCOL, "The server sends interim answers without end.")

    async def _body(self, line: Line, progress: Progress) -> None:
        for _ in range(MAX_PARTS):
            event = await self._event(line, progress)
            if not isinstance(event, h11.Data):
                return
            progress.body += event.data
            if len(progress.body) > MAX_BODY_BYTES:
                raise Refused(FailureKind.TOO_LARGE, f"The answer is larger than {MAX_BODY_BYTES} bytes.")
        raise Refused(FailureKind.TOO_LARGE, f"The answer comes in more than {MAX_PARTS} parts.")

    async def _event(self, line: Line, progress: Progress) -> object:
        while (event := self._connection.next_event()) is h11.NEED_DATA:
            data = await line.reader.read(READ_SIZE)
            if len(progress.first_bytes) < FIRST_BYTES:
                _note_first_bytes(data, progress)
            self._connection.receive_data(data)
        return event


def decoded(progress: Progress) -> bytes:
    """Return the body without its declared gzip or deflate; other encodings stay as they came.

    Raises zlib.error for a body that is not what it declares, Refused for one that grows past the cap.
    """
    declared = ",".join(value for name, value in progress.headers if name == "content-encoding")
    encodings = [
        name for part in declared.lower().split(",") if (name := part.strip()) not in ("", "identity")
    ]
    if len(encodings) > MAX_ENCODINGS:
        raise Refused(FailureKind.PROTOCOL, "The body is encoded too many times.")
    body = bytes(progress.body)
    for encoding in reversed(encodings):
        if encoding not in ("gzip", "x-gzip", "deflate"):
            return body
        body = _inflate(body, encoding)
    return body


def _inflate(body: bytes, encoding: str) -> bytes:
    try:
        return _inflate_as(body, _ANY_ZLIB)
    except zlib.error:
        if encoding != "deflate":
            raise
        return _inflate_as(body, _RAW_DEFLATE)  # what some servers call deflate


def _inflate_as(body: bytes, window: int) -> bytes:
    inflater = zlib.decompressobj(window)
    plain = inflater.decompress(body, MAX_DECOMPRESSED_BYTES + 1)
    if len(plain) > MAX_DECOMPRESSED_BYTES:
        raise Refused(
            FailureKind.TOO_LARGE, f"The answer unpacks to more than {MAX_DECOMPRESSED_BYTES} bytes."
        )
    return plain


def _note_first_bytes(data: bytes, progress: Progress) -> None:
    """Tell at once what does not begin like HTTP: waiting for the end of its first line may take the
    whole deadline."""
    progress.first_bytes += data[: FIRST_BYTES - len(progress.first_bytes)]
    if not data and not progress.first_bytes:
        raise ConnectionResetError("Server disconnected without sending a response.")
    if progress.first_bytes[: len(_HTTP)] != _HTTP[: len(progress.first_bytes)]:
        raise Refused(
            FailureKind.PROTOCOL, f"The answer is not HTTP; it begins with {progress.first_bytes[:32]!r}."
        )
