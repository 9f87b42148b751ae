"""A disk without room: told from other faults, and said to who pressed the button."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import psycopg.errors
import pytest
from django.db import DatabaseError, OperationalError
from django.test import RequestFactory

from panel import health
from panel.middleware import FullDiskMiddleware


def wrapped(cause: Exception) -> DatabaseError:
    """The error as Django raises it."""
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


@pytest.fixture
def full(tmp_path: Path) -> sqlite3.Error:
    """What a real SQLite says when its file may not grow."""
    rows = sqlite3.connect(tmp_path / "small.sqlite3")
    rows.execute("CREATE TABLE told (what)")
    rows.execute("PRAGMA max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError, match="full") as refused:
        rows.execute("INSERT INTO told VALUES (zeroblob(100000))")
    rows.close()
    return refused.value


def test_a_full_sqlite_is_told_from_a_locked_one(full: sqlite3.Error) -> None:
    locked = sqlite3.OperationalError("database is locked")
    locked.sqlite_errorcode = sqlite3.SQLITE_BUSY
    assert health.is_full(wrapped(full))
    assert not health.is_full(wrapped(locked))


def test_a_full_postgresql_is_one_too() -> None:
    assert health.is_full(wrapped(psycopg.errors.DiskFull("no space left")))
    assert not health.is_full(wrapped(psycopg.errors.AdminShutdown("going down")))


def test_what_is_no_fault_of_the_database_is_none() -> None:
    assert not health.is_full(None)
    assert not health.is_full(OSError(28, "No space left on device"))


def test_who_pressed_the_button_reads_that_nothing_was_saved(full: sqlite3.Error) -> None:
    request = RequestFactory().post("/t/atlas/settings/")
    middleware = FullDiskMiddleware(lambda request: pytest.fail("not asked"))
    answer = middleware.process_exception(request, wrapped(full))
    assert answer is not None
    assert answer.status_code == 507
    assert "Nothing was saved" in answer.content.decode()
    assert middleware.process_exception(request, ValueError()) is None
