"""What arrives one by one is gathered, and a slow last one keeps nobody waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from panel.batches import timely


def test_what_comes_together_is_written_together() -> None:
    assert list(timely(range(7), size=3, seconds=5)) == [[0, 1, 2], [3, 4, 5], [6]]


def test_a_slow_last_one_keeps_nobody_waiting() -> None:
    slow = threading.Event()

    def outcomes() -> Iterator[str]:
        yield from ("quick", "quick too")
        slow.wait(10)
        yield "slow"

    batches = timely(outcomes(), size=200, seconds=0.1)
    begun = time.monotonic()
    assert next(batches) == ["quick", "quick too"]
    assert time.monotonic() - begun < 5
    slow.set()
    assert list(batches) == [["slow"]]


def test_a_silence_yields_nothing_every_so_often_where_that_is_asked_for() -> None:
    slow = threading.Event()

    def outcomes() -> Iterator[str]:
        slow.wait(10)
        yield "late"

    batches = timely(outcomes(), size=3, seconds=0.1, idle=0.05)
    assert [next(batches), next(batches)] == [[], []]
    slow.set()
    assert ["late"] in list(batches)


def test_nothing_is_no_batch() -> None:
    assert list(timely([], size=3, seconds=5)) == []


def test_an_error_comes_after_what_came_before_it() -> None:
    def outcomes() -> Iterator[str]:
        yield "told"
        raise ValueError("no more")

    batches = timely(outcomes(), size=3, seconds=5)
    assert next(batches) == ["told"]
    with pytest.raises(ValueError, match="no more"):
        next(batches)
