"""Real servers on loopback for the engine's tests: each behaves as one function says."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

from checks import EgressPolicy, LaneSpec, Masked

KEY = "sk-canary-0123456789abcdef"
MODEL = "tiny-chat"
LOOPBACK = EgressPolicy((ip_network("127.0.0.0/8"), ip_network("::1/128")))
NOWHERE = EgressPolicy()

Behaviour = Callable[[socket.socket, bytes], None]


@dataclass
class LocalServer:
    """A listening server; `seen` holds the requests, `connections` counts what was accepted."""

    port: int
    scheme: str = "http"
    host: str = "127.0.0.1"
    seen: list[bytes] = field(default_factory=list)
    connections: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def base_url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}/v1"

    def spec(self, **changes: Any) -> LaneSpec:
        """A lane of this server, with the canary key."""
        known: dict[str, Any] = {
            "id": "lane-1",
            "base_url": self.base_url,
            "model": MODEL,
            "key": Masked(KEY),
            "egress": LOOPBACK,
            "deadline": 5.0,
        }
        return LaneSpec(**{**known, **changes})


@contextmanager
def serving(
    behaviour: Behaviour, *, tls: ssl.SSLContext | None = None, family: socket.AddressFamily = socket.AF_INET
) -> Iterator[LocalServer]:
    """Serve `behaviour` on a free port of loopback, one thread a connection."""
    host = "127.0.0.1" if family is socket.AF_INET else "::1"
    with socket.create_server((host, 0), family=family, backlog=512) as listener:
        shown = host if family is socket.AF_INET else "[::1]"
        server = LocalServer(listener.getsockname()[1], "https" if tls else "http", shown)
        thread = threading.Thread(target=_accept, args=(listener, server, behaviour, tls), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)


def _accept(
    listener: socket.socket, server: LocalServer, behaviour: Behaviour, tls: ssl.SSLContext | None
) -> None:
    def serve_one(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.settimeout(10)
            with tls.wrap_socket(connection, server_side=True) if tls else connection as wrapped:
                request = _read_request(wrapped)
                if request:  # the network rung connects and says nothing
                    server.seen.append(request)
                    behaviour(wrapped, request)
                wrapped.shutdown(socket.SHUT_WR)

    while not server.stopped.is_set():
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        server.connections += 1
        threading.Thread(target=serve_one, args=(connection,), daemon=True).start()


def _read_request(connection: socket.socket) -> bytes:
    """Head and body; what is no HTTP (a TLS hello) is not waited for."""
    received = b""
    while b"\r\n\r\n" not in received and received[:1] != b"\x16" and (part := connection.recv(65_536)):
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), 0
    )
    while len(body) < length and (part := connection.recv(65_536)):
        body += part
        received += part
    return received


def head(status: int, length: int | None, content_type: str = "application/json", **headers: str) -> bytes:
    """The head of an answer; underscores in header names stand for dashes."""
    lines = [f"HTTP/1.1 {status} Whatever", f"content-type: {content_type}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if length is not None:
        lines.append(f"content-length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def answering(status: int, body: object, content_type: str = "application/json", **headers: str) -> Behaviour:
    """Answer everything with one status and body (bytes as they are, text, or else JSON)."""
    if isinstance(body, str):
        body = body.encode()
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    message = head(status, len(content), content_type, **headers) + content

    def behave(connection: socket.socket, request: bytes) -> None:
        connection.sendall(message)

    return behave


def by_path(**behaviours: Behaviour) -> Behaviour:
    """Choose by the last segment of the path: `models`, `completions`."""

    def behave(connection: socket.socket, request: bytes) -> None:
        last = request.split(b" ", 2)[1].rpartition(b"/")[2].decode()
        behaviours[last](connection, request)

    return behave


def completion(**changes: Any) -> dict[str, Any]:
    """A good chat completion of twelve tokens."""
    message = {"role": "assistant", "content": "Hello"}
    known = {
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    }
    return {**known, **changes}


def model_list(*names: str) -> dict[str, Any]:
    """What `GET models` gives."""
    return {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}


HEALTHY = by_path(models=answering(200, model_list(MODEL)), completions=answering(200, completion()))
