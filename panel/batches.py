"""Gathers what arrives one by one into batches, so that a slow last one keeps nobody waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def timely(items: Iterable[T], *, size: int, seconds: float, idle: float | None = None) -> Iterator[list[T]]:
    """Yield the items in lists of at most `size`, each at most `seconds` after its first item came.

    Where `idle` is given, an empty list is yielded after so many seconds without an item. What iterating
    raises is raised here, after what came before it was yielded.
    """
    arrived: SimpleQueue[tuple[T] | _Ended] = SimpleQueue()
    threading.Thread(target=_pour, args=(items, arrived), name="batches", daemon=True).start()
    while True:
        batch, ended = _gather(arrived, size, seconds, idle)
        if batch or ended is None:
            yield batch
        if ended is not None:
            if ended.error is not None:
                raise ended.error
            return


class _Ended:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def _pour(items: Iterable[T], arrived: SimpleQueue[tuple[T] | _Ended]) -> None:
    error: BaseException | None = None
    try:
        for item in items:
            arrived.put((item,))
    except BaseException as caught:  # noqa: BLE001 - handed over whole to the thread that waits
        error = caught
    arrived.put(_Ended(error))


def _gather(
    arrived: SimpleQueue[tuple[T] | _Ended], size: int, seconds: float, idle: float | None
) -> tuple[list[T], _Ended | None]:
    batch: list[T] = []
    deadline: float | None = None
    while len(batch) < size:
        try:
            found = arrived.get(timeout=idle if deadline is None else max(0.0, deadline - time.monotonic()))
        except Empty:
            return batch, None
        if isinstance(found, _Ended):
            return batch, found
        batch.append(found[0])
        deadline = deadline or time.monotonic() + seconds
    return batch, None
