"""SQLite on a disk that is full for a while: a clear word, nothing torn, and it goes on when there is room.

The room is taken from the processes themselves: no file may grow beyond what the database has just now.
"""

from __future__ import annotations

import contextlib
import resource
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drills.house import House, house
from tests.launch.started import until
from tests.parts import require

pytestmark = [pytest.mark.drill, pytest.mark.slow, pytest.mark.embedded]
FULL_S = 12


@pytest.fixture
def living(tmp_path: Path) -> Iterator[House]:
    require(hasattr(resource, "prlimit"), "Linux' limits of a running process")
    with house(tmp_path) as running:
        yield running


def may_write(living: House, most: int) -> None:
    """Let no file of worker and web server grow beyond so many bytes."""
    for pid, command in living.started.pids().items():
        if "celery" in command or "gunicorn" in command:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def is_sound(living: House) -> bool:
    file = living.started.folder / "preflight.sqlite3"
    with contextlib.closing(sqlite3.connect(file, timeout=60)) as rows:
        return rows.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_full_disk_says_so_tears_nothing_and_is_got_over(living: House) -> None:
    assert until(living.green, 90), living.said

    def fill() -> None:
        may_write(living, 4096)
        assert until(lambda: "The disk is full, or takes no more" in living.started.said, 60), living.said
        time.sleep(FULL_S)
        assert is_sound(living)
        assert living.started.page("/healthz") == 200  # pages are still read
        may_write(living, resource.RLIM_INFINITY)

    living.lives_through(fill)
    assert is_sound(living)
