"""A channel's other side on a real socket: it keeps what it was told, and misbehaves when asked to."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


@dataclass
class Catcher:
    """`told` holds (idempotency key, kind) of each message that was taken, `asked` those of each request.
    `fault` is "" (takes all), a status, or "hangs"."""

    port: int = 0
    fault: str = ""
    told: list[tuple[str, str]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    ended: Event = field(default_factory=Event)

    @property
    def url(self) -> str:
        """Where it is told."""
        return f"http://127.0.0.1:{self.port}/hook"

    def kinds(self) -> list[str]:
        """Return the kinds of the messages taken, each message once however often it came."""
        return list(dict(self.told).values())

    def doubles(self) -> list[str]:
        """Return the kinds of the messages that were taken more than once."""
        return [kind for number, (code, kind) in enumerate(self.told) if code in dict(self.told[:number])]

    def take(self, headers: Any, body: bytes) -> int:
        """Answer one request with a status."""
        said = (str(headers["idempotency-key"]), str(json.loads(body)["kind"]))
        self.asked.append(said)
        if self.fault == "hangs":
            self.ended.wait(60)
            return 503
        if self.fault:
            return int(self.fault)
        self.told.append(said)
        return 200


@contextmanager
def catching() -> Iterator[Catcher]:
    """Run one on a free port of loopback."""
    catcher = Catcher()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status = catcher.take(self.headers, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            self.send_header("location", "/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.daemon_threads = True
        catcher.port = server.server_address[1]
        Thread(target=server.serve_forever, daemon=True).start()
        yield catcher
        catcher.ended.set()
        server.shutdown()


def wait_for(catcher: Catcher, kind: str, count: int, seconds: float = 60) -> bool:
    """Wait until so many messages of the kind were taken."""
    deadline = time.monotonic() + seconds
    while catcher.kinds().count(kind) < count:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
