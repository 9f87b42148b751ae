"""Many climbs at once, for callers without an event loop: one long-lived loop a process."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final

from checks.ladder import climb
from checks.outcome import Outcome, Told
from checks.spec import LaneSpec

MAX_IN_FLIGHT: Final = 256  # over all batches of the process: sockets are a shared purse
RESOLVER_THREADS: Final = 32  # a dead resolver holds a thread for many seconds
HELD_SECONDS: Final = 0.05  # what is told waits for company: to wake a thread costs a tenth of a probe

Item = Outcome | Told


class _Mailbox:
    """What climbs tell on the loop, for the thread that waits: a handful at a time, None once all is told."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.arrived: SimpleQueue[list[Item] | None] = SimpleQueue()
        self._loop = loop
        self._held: list[Item] = []

    def put(self, item: Item) -> None:
        """Hold the item for a moment; called on the loop."""
        if not self._held:
            self._loop.call_later(HELD_SECONDS, self.hand_over)
        self._held.append(item)

    def hand_over(self) -> None:
        """Let the thread have what is held; called on the loop."""
        if self._held:
            self.arrived.put(self._held)
            self._held = []


@dataclass(frozen=True, slots=True)
class _Engine:
    loop: asyncio.AbstractEventLoop
    in_flight: asyncio.Semaphore


_engines: dict[int, _Engine] = {}
_starting = threading.Lock()


def run(spec: LaneSpec) -> Outcome:
    """Climb once and wait for the outcome; never raises for anything the endpoint does."""
    return next(run_many((spec,)))


def run_many(specs: Iterable[LaneSpec], *, concurrency: int = 64) -> Iterator[Outcome]:
    """Climb all `specs`, at most `concurrency` at a time, and yield outcomes as they are complete, or a
    moment (`HELD_SECONDS`) later.

    Each spec's deadline starts with its own climb. Leaving the iterator early cancels what still runs.
    """
    pending = tuple(specs)
    if concurrency < 1:
        raise ValueError("The concurrency must be at least 1.")
    return _outcomes(pending, concurrency)


def follow_many(specs: Iterable[LaneSpec], *, concurrency: int = 64) -> Iterator[Item]:
    """Climb like `run_many`, and yield in between what the climbs tell while they are under way. Nothing of
    a climb is told after its outcome."""
    pending = tuple(specs)
    if concurrency < 1:
        raise ValueError("The concurrency must be at least 1.")
    return _arriving(pending, concurrency, tells=True)


def _outcomes(specs: tuple[LaneSpec, ...], concurrency: int) -> Iterator[Outcome]:
    with closing(_arriving(specs, concurrency, tells=False)) as arriving:
        for item in arriving:
            if isinstance(item, Outcome):
                yield item


def _arriving(specs: tuple[LaneSpec, ...], concurrency: int, *, tells: bool) -> Generator[Item]:
    engine = _engine()
    mailbox = _Mailbox(engine.loop)
    batch = asyncio.run_coroutine_threadsafe(
        _climb_all(specs, concurrency, mailbox, engine.in_flight, tells=tells), engine.loop
    )
    batch.add_done_callback(lambda _: mailbox.arrived.put(None))
    try:
        while (items := mailbox.arrived.get()) is not None:
            yield from items
        batch.result()
    finally:
        batch.cancel()


async def _climb_all(
    specs: tuple[LaneSpec, ...],
    concurrency: int,
    mailbox: _Mailbox,
    in_flight: asyncio.Semaphore,
    *,
    tells: bool,
) -> None:
    waiting = iter(specs)
    heard = mailbox.put if tells else None

    async def climb_next() -> None:
        for spec in waiting:
            async with in_flight:
                mailbox.put(await climb(spec, heard))

    try:
        async with asyncio.TaskGroup() as climbers:
            for _ in range(min(concurrency, len(specs))):
                climbers.create_task(climb_next())
    finally:
        mailbox.hand_over()


def _engine() -> _Engine:
    """The engine of this process: a forked child has the parent's memory and none of its threads."""
    pid = os.getpid()
    with _starting:
        if pid not in _engines:
            _engines.clear()
            _engines[pid] = _start()
        return _engines[pid]


def _start() -> _Engine:
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(RESOLVER_THREADS, thread_name_prefix="checks-resolver"))
    threading.Thread(target=loop.run_forever, name="checks-loop", daemon=True).start()
    return _Engine(loop, asyncio.Semaphore(MAX_IN_FLIGHT))


def _forget_parent() -> None:
    """Another thread of the parent may have held the lock at the moment of the fork."""
    global _starting
    _starting = threading.Lock()


os.register_at_fork(after_in_child=_forget_parent)
