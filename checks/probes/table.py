"""The small table that the reference agent asks: read alone, within bounds of rows, steps and sizes."""

from __future__ import annotations

import json
import sqlite3
from types import TracebackType
from typing import Final, Self

MAX_SQL: Final = 2_000  # characters
MAX_ROWS: Final = 50
MAX_ROWS_TEXT: Final = 4_000
MAX_VALUE_BYTES: Final = 100_000
MAX_STEPS: Final = 200  # times a thousand instructions of SQLite's machine: a fraction of a second

SCHEMA: Final = "The one table: orders(id INTEGER, customer TEXT, item TEXT, amount INTEGER)."
QUESTION: Final = "Which customer paid the most over all orders, and how much is that in total?"
ANSWER: Final = ("mei", "310")
"""What a right answer names, in lower case."""

_ROWS: Final = (
    (1, "Ada", "lamp", 120),
    (2, "Mei", "desk", 190),
    (3, "Tom", "chair", 60),
    (4, "Ada", "shelf", 145),
    (5, "Mei", "chair", 75),
    (6, "Tom", "lamp", 230),
    (7, "Mei", "rug", 45),
)
_ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_FUNCTIONS: Final = frozenset(
    {
        *("sum", "count", "max", "min", "avg", "total", "round", "abs", "lower", "upper", "trim", "length"),
        *(
            "coalesce",
            "ifnull",
            "nullif",
            "substr",
            "like",
            "rank",
            "row_number",
            "dense_rank",
            "group_concat",
        ),
    }
)


class Table:
    """A SQLite database in memory; use it as a context manager."""

    def __init__(self) -> None:
        self._base = sqlite3.connect(":memory:")
        self._base.execute("CREATE TABLE orders(id INTEGER, customer TEXT, item TEXT, amount INTEGER)")
        self._base.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", _ROWS)
        self._base.commit()
        self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        self._base.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_SQL)
        self._base.set_authorizer(_allow)
        self._steps = 0
        self._base.set_progress_handler(self._count, 1000)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()

    def asked(self, query: str) -> str:
        """Return the rows of one SELECT as JSON, or a line that begins with "Error" for all else; never
        raises, whatever the model wrote."""
        self._steps = 0
        try:
            cursor = self._base.execute(query)
            names = [column[0] for column in cursor.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchmany(MAX_ROWS)]
            return json.dumps(rows, ensure_ascii=False, default=str)[:MAX_ROWS_TEXT]
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, OverflowError) as error:
            return f"Error: {error}"[:MAX_ROWS_TEXT]

    def _count(self) -> int:
        self._steps += 1
        return self._steps > MAX_STEPS


def _allow(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    """Reading alone, and no function that makes something large of something small."""
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if (second or "").lower() in _FUNCTIONS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
