"""A disk without room, told from other faults of the database and said in plain words."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from celery import signals
from django.db import DatabaseError
from psycopg.errors import DiskFull

SAID: Final = (
    "The disk is full, or takes no more: nothing can be written. What is saved stays whole; make room, and "
    "checks go on by themselves."
)
# The second and third: the system refused to let the file, or the index of its log, grow.
_FULL: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)

logger = logging.getLogger(__name__)


def is_full(error: BaseException | None) -> bool:
    """Tell whether the database could not write for want of room."""
    return any(_says_so(each) for each in _chain(error))


@signals.task_failure.connect
def say_so(exception: BaseException | None = None, **kwargs: Any) -> None:
    """Put the cause below a task's traceback."""
    if is_full(exception):
        logger.error(SAID)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    if not isinstance(error, DatabaseError):
        return
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__


def _says_so(error: BaseException) -> bool:
    if isinstance(error, DiskFull):
        return True
    if not isinstance(error, sqlite3.Error):
        return False
    return getattr(error, "sqlite_errorcode", 0) in _FULL
