"""The connection that a climb's first rung opened, kept for its second: a climb asks over one connection.

A new one for each rung would double what a climb costs both sides, and tell nothing more: it is the climb
that connects anew each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Final

from checks.egress.dial import Line, dial
from checks.egress.progress import Progress
from checks.egress.target import Target
from checks.spec import EgressPolicy

FRESH_SECONDS: Final = 1.0  # servers hang up on a connection that stays silent


class _Keeper:
    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: tuple[Line, Progress, float] | None = None

    def put(self, line: Line, progress: Progress) -> None:
        self.drop()
        self._kept = line, progress, monotonic()

    def take(self, target: Target, progress: Progress) -> Line | None:
        """Return the line if it leads there and is still open, and copy how it came to be."""
        if self._kept is None:
            return None
        line, opened, since = self._kept
        if opened.target != target:
            return None
        if line.reader.at_eof() or line.writer.is_closing() or monotonic() - since > FRESH_SECONDS:
            self.drop()
            return None
        self._kept = None
        progress.take_over(opened)
        return line

    def drop(self) -> None:
        if self._kept is not None:
            self._kept[0].drop()
            self._kept = None


_KEEPER: ContextVar[_Keeper | None] = ContextVar("keeper", default=None)


@contextmanager
def keeping() -> Iterator[None]:
    """Let the connection that `reach` opens be used by the next exchange with the same server, in this task
    and those that it starts; one that nobody used is closed at the end."""
    keeper = _Keeper()
    before = _KEEPER.set(keeper)
    try:
        yield
    finally:
        _KEEPER.reset(before)
        keeper.drop()


def keep_or_drop(line: Line, progress: Progress) -> None:
    """Keep an open connection where that is wanted, else close it."""
    keeper = _KEEPER.get()
    if keeper is None:
        line.drop()
    else:
        keeper.put(line, progress)


async def kept_or_dialled(target: Target, policy: EgressPolicy, progress: Progress) -> Line:
    """Return the connection that was kept for this server, else a new one. Raises as `dial` does."""
    keeper = _KEEPER.get()
    kept = keeper.take(target, progress) if keeper is not None else None
    return kept if kept is not None else await dial(target, policy, progress)
