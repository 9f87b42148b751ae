"""Many climbs at once, for callers without an event loop: one long-lived loop a process."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final

from checks.ladder import climb
from checks.outcome import Outcome, Told
from checks.spec import LaneSpec

MAX_IN_FLIGHT: Final = 256  # over all batches of the process: sockets are a shared purse
RESOLVER_THREADS: Final = 32  # a dead resolver holds a thread for many seconds


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
    """Climb all `specs`, at most `concurrency` at a time, and yield outcomes as they are complete.

    Each spec's deadline starts with its own climb. Leaving the iterator early cancels what still runs.
    """
    pending = tuple(specs)
    if concurrency < 1:
        raise ValueError("The concurrency must be at least 1.")
    return _outcomes(pending, concurrency)


def follow_many(specs: Iterable[LaneSpec], *, concurrency: int = 64) -> Iterator[Outcome | Told]:
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


def _arriving(specs: tuple[LaneSpec, ...], concurrency: int, *, tells: bool) -> Generator[Outcome | Told]:
    arrived: SimpleQueue[Outcome | Told | None] = SimpleQueue()
    batch = _submit(specs, concurrency, arrived.put, tells=tells)
    batch.add_done_callback(lambda _: arrived.put(None))
    try:
        while (item := arrived.get()) is not None:
            yield item
        batch.result()
    finally:
        batch.cancel()


def _submit(
    specs: tuple[LaneSpec, ...], concurrency: int, put: Callable[[Outcome | Told], None], *, tells: bool
) -> Future[None]:
    engine = _engine()
    return asyncio.run_coroutine_threadsafe(
        _climb_all(specs, concurrency, put, engine.in_flight, put if tells else None), engine.loop
    )


async def _climb_all(
    specs: tuple[LaneSpec, ...],
    concurrency: int,
    put: Callable[[Outcome], None],
    in_flight: asyncio.Semaphore,
    heard: Callable[[Told], None] | None,
) -> None:
    waiting = iter(specs)

    async def climb_next() -> None:
        for spec in waiting:
            async with in_flight:
                put(await climb(spec, heard))

    async with asyncio.TaskGroup() as climbers:
        for _ in range(min(concurrency, len(specs))):
            climbers.create_task(climb_next())


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
