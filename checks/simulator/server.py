"""One scripted server on a real socket, in a thread and an event loop of its own."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import ssl
import threading
from collections import deque
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from checks.simulator.call import Call, KeyFact, Site, credential
from checks.simulator.effects.asks import ASKS
from checks.simulator.families import FAMILIES
from checks.simulator.faults import FAULTS, Fault
from checks.simulator.http import (
    HEAD_LIMIT,
    Answer,
    BadRequest,
    Reply,
    Request,
    as_text,
    read_request,
    write_reply,
)
from checks.simulator.wire import ABORT, HANG_SECONDS

BACKLOG = 128
KEPT_REQUESTS = 1000
"""The newest requests that a running server remembers."""
STOP_SECONDS = 5.0
HANDSHAKE_GRACE_SECONDS = 0.5
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie"})
TLS_HANDSHAKE = 0x16
"""The first byte of a TLS client."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it is remembered: no header that could hold a key, but whether the key was right."""

    method: str
    path: str
    headers: dict[str, str]
    key: KeyFact
    json: object


class Server:
    """A running server; use it as a context manager. Made by `serve`."""

    def __init__(
        self, family: str, site: Site, *, tls: ssl.SSLContext | None, delay: float, jitter: float
    ) -> None:
        self.family = family
        self._site = site
        self._tls = tls
        self._delay = delay
        self._jitter = jitter
        self._fault: str | None = None
        self._seen: deque[Seen] = deque(maxlen=KEPT_REQUESTS)
        self._chance = random.Random()  # noqa: S311 - spreads delays, guards nothing
        self._fillers: list[socket.socket] = []
        self._connections: set[asyncio.Task[None]] = set()
        self._shaking_hands: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=f"simulated {family}", daemon=True)

    # --- what a caller uses -------------------------------------------------------------------

    @property
    def models(self) -> tuple[str, ...]:
        """The model ids served."""
        return self._site.models

    @property
    def port(self) -> int:
        """The port listened on."""
        return int(self._listener.getsockname()[1])

    @property
    def origin(self) -> str:
        """Scheme, host and port, as they truly are."""
        host = self._listener.getsockname()[0]
        shown = f"[{host}]" if ":" in host else host
        return f"{'https' if self._tls else 'http'}://{shown}:{self.port}"

    @property
    def base_url(self) -> str:
        """The base URL a person would have stored; mistaken in the fault's way where it has one."""
        base, origin = FAMILIES[self.family].base, self.origin
        mistake = FAULTS[self._fault].url if self._fault else ""
        rest = origin.partition("://")[2]
        return {
            "": origin + base,
            "no_version": origin + base.rpartition("/")[0],
            "double_version": f"{origin}{base}/{base.rpartition('/')[2]}",
            "full_endpoint": f"{origin}{base}/chat/completions",
            "wrong_segment": f"{origin}/product{base}",
            "https": f"https://{rest}{base}",
            "http": f"http://{rest}{base}",
        }[mistake]

    @property
    def requests(self) -> list[Seen]:
        """The newest requests, oldest first."""
        return list(self._seen)

    @property
    def fault(self) -> str | None:
        """The fault in force, None when healthy. May be set from any thread while running.

        Setting raises ValueError for a name that does not exist or that this family cannot do.
        """
        return self._fault

    @fault.setter
    def fault(self, name: str | None) -> None:
        if name is not None:
            possible(self.family, name)
            if FAULTS[name].certificate and self._tls is None:
                raise ValueError(f"The fault {name!r} needs a TLS context.")
        self._call(self._switch(name))

    # --- starting and stopping ----------------------------------------------------------------

    def bind(self, host: str, port: int, fault: str | None) -> None:
        """Take the port, and note the fault to start with. Raises OSError when it cannot be had."""
        self._fault = fault
        kind = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=kind, backlog=BACKLOG)
        self._listener.setblocking(False)

    def __enter__(self) -> Self:
        self._thread.start()
        self._call(self._switch(self._fault))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_SECONDS)
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _call(self, work: Coroutine[object, object, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(STOP_SECONDS)

    async def _close(self) -> None:
        self._loop.remove_reader(self._listener)
        # A handshake that is cancelled before its transport has begun would leave that transport open.
        if self._shaking_hands:
            await asyncio.wait(self._shaking_hands, timeout=HANDSHAKE_GRACE_SECONDS)
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._drop_fillers()
        self._listener.close()
        await self._loop.shutdown_asyncgens()

    # --- taking connections -------------------------------------------------------------------

    async def _switch(self, name: str | None) -> None:
        self._fault = name
        if name is not None and FAULTS[name].accept == "deaf":
            self._stop_accepting()
            return
        self._drop_fillers()
        self._listener.listen(BACKLOG)
        self._loop.add_reader(self._listener, self._accept)

    def _stop_accepting(self) -> None:
        """Take no connection any more, and fill the queue so that the kernel drops further ones."""
        self._loop.remove_reader(self._listener)
        self._listener.listen(0)
        for _ in range(2):
            filler = socket.socket(self._listener.family, socket.SOCK_STREAM)
            filler.setblocking(False)
            filler.connect_ex(self._listener.getsockname())
            self._fillers.append(filler)

    def _drop_fillers(self) -> None:
        while self._fillers:
            self._fillers.pop().close()

    def _accept(self) -> None:
        """Take the connection that waits, and see to it that its socket is closed in the end."""
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        connection.setblocking(False)
        task = self._loop.create_task(self._serve(connection))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        task.add_done_callback(lambda _: connection.close())

    async def _serve(self, connection: socket.socket) -> None:
        """Answer one connection until either side ends it."""
        writer: asyncio.StreamWriter | None = None
        try:
            if await self._refused(connection):
                return
            reader, writer = await self._streams(connection)
            while await self._exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client went away, or spoke no TLS
        except asyncio.CancelledError:
            if writer is not None:
                writer.transport.abort()
            raise
        finally:
            if writer is not None:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()

    async def _refused(self, connection: socket.socket) -> bool:
        """Misbehave before a byte is read; True when the connection is done with."""
        fault = FAULTS[self._fault] if self._fault else None
        if fault is not None and fault.accept == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            return True
        if fault is not None and fault.accept == "hang":
            await asyncio.sleep(HANG_SECONDS)
            return True
        return False

    async def _streams(self, connection: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Wrap the connection, in TLS when the client speaks it and we do."""
        tls = self._tls if self._tls and await self._first_byte(connection) == TLS_HANDSHAKE else None
        reader = asyncio.StreamReader(limit=HEAD_LIMIT, loop=self._loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=self._loop)
        serving = asyncio.current_task()
        if tls and serving:
            self._shaking_hands.add(serving)
        try:
            transport, _ = await self._loop.connect_accepted_socket(lambda: protocol, connection, ssl=tls)
        finally:
            self._shaking_hands.discard(serving)
        return reader, asyncio.StreamWriter(transport, protocol, reader, self._loop)

    async def _first_byte(self, connection: socket.socket) -> int:
        """Look at the first byte without taking it; -1 when none comes."""
        ready = asyncio.Event()
        self._loop.add_reader(connection, ready.set)
        try:
            await ready.wait()
        finally:
            self._loop.remove_reader(connection)
        peeked = connection.recv(1, socket.MSG_PEEK)
        return peeked[0] if peeked else -1

    # --- answering ----------------------------------------------------------------------------

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; True when the connection may carry another."""
        try:
            request = await read_request(reader)
        except BadRequest as error:
            await write_reply(writer, as_text(str(error), 400), close=True, bodiless=False)
            return False
        if request is None:
            return False
        if self._tls and writer.get_extra_info("ssl_object") is None:
            wrong = as_text("Client sent an HTTP request to an HTTPS server.\n", 400)
            await write_reply(writer, wrong, close=True, bodiless=False)
            return False
        answer = self._answer(request)
        await asyncio.sleep(self._pause(answer))
        if not isinstance(answer, Reply):
            await answer(writer)
            return False
        bodiless = request.method == "HEAD"
        await write_reply(writer, answer, close=not request.keep_alive, bodiless=bodiless)
        return request.keep_alive

    def _answer(self, request: Request) -> Answer:
        call = Call(request, self._site)
        self._remember(call)
        fault = FAULTS[self._fault] if self._fault else None
        effect = fault.effects[self.family] if fault else None
        if effect is None or not _shows(fault, call):
            return self._site.family.answer(call)
        return effect(call, lambda: self._site.family.answer(call))

    def _remember(self, call: Call) -> None:
        headers = {name: text for name, text in call.request.headers.items() if name not in SECRET_HEADERS}
        sent = credential(call.request)
        path = call.request.path.replace(sent, "[key]") if sent else call.request.path
        self._seen.append(Seen(call.request.method, path, headers, call.key, call.request.document))

    def _pause(self, answer: Answer) -> float:
        spread = self._chance.uniform(1 - self._jitter, 1 + self._jitter)
        return self._delay * spread + (answer.delay if isinstance(answer, Reply) else 0.0)


def _shows(fault: Fault | None, call: Call) -> bool:
    return fault is not None and (not fault.asks or ASKS[fault.asks](call))


def possible(family: str, fault: str) -> None:
    """Raise ValueError unless that family can do that fault."""
    if fault not in FAULTS:
        raise ValueError(f"There is no fault {fault!r}.")
    if family not in FAULTS[fault].effects:
        able = ", ".join(FAULTS[fault].effects)
        raise ValueError(f"The family {family!r} cannot do {fault!r}; these can: {able}.")


def serve(
    family: str,
    *,
    key: str | None = None,
    models: Sequence[str] = ("qwen3-8b",),
    fault: str | None = None,
    tls: ssl.SSLContext | None = None,
    delay_ms: float = 0,
    jitter: float = 0.0,
    host: str = "127.0.0.1",
    port: int = 0,
) -> Server:
    """Bind a server of that family and return it; it answers inside its `with` block.

    With `key` None every caller is let in. `delay_ms` is waited before each answer, spread by the
    share `jitter` (0 to 1) both ways. Raises ValueError for an unknown family, a fault it cannot do
    or one whose TLS context is wanting, OSError for a port that cannot be had.
    """
    if family not in FAMILIES:
        raise ValueError(f"There is no family {family!r}; there are: {', '.join(FAMILIES)}.")
    if fault is not None:
        possible(family, fault)
        if FAULTS[fault].certificate and tls is None:
            raise ValueError(f"The fault {fault!r} needs a TLS context.")
    site = Site(FAMILIES[family], key, tuple(models))
    server = Server(family, site, tls=tls, delay=delay_ms / 1000, jitter=jitter)
    server.bind(host, port, fault)
    return server
