"""A team's history as lines of CSV or JSON, read in windows of the indexes so that memory stays bounded.

Columns (docs/using.md says them to people): times are ISO 8601 in UTC, durations milliseconds, an unknown
value is an empty cell or null. Every line names its lane by `profile` (code), `profile_name` and `lane`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

from django.db.models import Model

from panel import rollups
from panel.models import Lane, LaneDay, LaneHour, Run, Team

WINDOW = 1000
# A text that begins so is a formula to a spreadsheet; an apostrophe before it makes it text again.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
# Spreadsheets take a file without it for the machine's own code page, and garble Chinese names.
BYTE_ORDER_MARK = "\ufeff"
LANE = ("profile", "profile_name", "lane")
COUNTS = ("ok", "degraded", "down", "not_testable", "missed", "maintenance")
PERCENTILES = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}


class Rows(StrEnum):
    """What a line stands for."""

    RUNS = "runs"
    HOURS = "hours"
    DAYS = "days"


class Form(StrEnum):
    """How a line is written."""

    CSV = "csv"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class _Table:
    """Where lines come from: the model, its column of the lane and of the time, the columns read, and what
    becomes of a row."""

    model: type[Model]
    lane: str
    at: str
    read: tuple[str, ...]
    line: Callable[[dict[str, Any]], dict[str, Any]]
    columns: tuple[str, ...]


_RUN = (
    "code", "slot", "trigger", "state", "status", "rung", "reason", "started_at", "finished_at",
    "duration_ms", "latency_ms", "tokens", "place", "host_name", "profile_version", "key_number",
)  # fmt: skip
_HALVES = ("worst_first", "worst_second")


def _hour(row: dict[str, Any]) -> dict[str, Any]:
    merged = rollups.unpack(row.pop("latency_first")) + rollups.unpack(row.pop("latency_second"))
    return row | _percentiles(merged)


def _day(row: dict[str, Any]) -> dict[str, Any]:
    return row | _percentiles(rollups.unpack(row.pop("latency")))


def _percentiles(histogram: int) -> dict[str, int | None]:
    found = rollups.quantiles(histogram, tuple(PERCENTILES.values()))
    return {name: None if ms is None else round(ms) for name, ms in zip(PERCENTILES, found, strict=True)}


_TABLES = {
    Rows.RUNS: _Table(Run, "check_order__lane", "slot", _RUN, dict, _RUN),
    Rows.HOURS: _Table(
        LaneHour, "lane", "hour", ("hour", *COUNTS, *_HALVES, "latency_first", "latency_second"), _hour,
        ("hour", *COUNTS, *_HALVES, *PERCENTILES),
    ),
    Rows.DAYS: _Table(
        LaneDay, "lane", "day", ("day", *COUNTS, "worst", "reasons", "tokens", "latency"), _day,
        ("day", *COUNTS, "worst", "reasons", "tokens", *PERCENTILES),
    ),
}  # fmt: skip


def columns(rows: Rows) -> tuple[str, ...]:
    """Return the names of the columns, in order."""
    return LANE + _TABLES[rows].columns


def lines(
    team: Team, rows: Rows, form: Form, since: datetime, until: datetime, *, profile: str = "", kind: str = ""
) -> Iterator[str]:
    """Yield the team's history from `since` up to `until`, many lines a piece, lane by lane, oldest first.

    `profile` (a code) and `kind` narrow it down. A query reads at most `WINDOW` rows.
    """
    table = _TABLES[rows]
    write = _as_csv if form is Form.CSV else _as_json
    if form is Form.CSV:
        yield BYTE_ORDER_MARK + _as_csv([columns(rows)])
    for lane, *names in _lanes(team, profile, kind):
        head = dict(zip(LANE, names, strict=True))
        for window in _windows(table, lane, since, until):
            yield write([head | table.line(row) for row in window])


def _lanes(team: Team, profile: str, kind: str) -> Iterable[tuple[Any, ...]]:
    narrowed = {name: value for name, value in (("profile__code", profile), ("kind", kind)) if value}
    lanes = Lane.objects.filter(profile__team=team, **narrowed).order_by("profile__name", "profile_id", "pk")
    return list(lanes.values_list("pk", "profile__code", "profile__name", "kind"))


def _windows(table: _Table, lane: int, since: datetime, until: datetime) -> Iterator[list[dict[str, Any]]]:
    """Walk the unique index on lane and time."""
    by_day = table.at == "day"
    after, end = (moment.astimezone(UTC).date() if by_day else moment for moment in (since, until))
    first = f"{table.at}__gte"
    rows = table.model._default_manager.filter(**{table.lane: lane}).order_by(table.at)
    while True:
        window = list(rows.filter(**{first: after, f"{table.at}__lt": end}).values(*table.read)[:WINDOW])
        if window:
            after, first = window[-1][table.at], f"{table.at}__gt"
            yield window
        if len(window) < WINDOW:
            return


def _as_csv(lines: Iterable[Sequence[Any] | Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for line in lines:
        cells = line.values() if isinstance(line, Mapping) else line
        writer.writerow([_cell(cell) for cell in cells])
    return text.getvalue()


def _cell(value: Any) -> Any:
    plain = _plain(value)
    if isinstance(plain, dict):
        return json.dumps(plain, ensure_ascii=False, sort_keys=True)
    return f"'{plain}" if isinstance(plain, str) and plain.startswith(FORMULA) else plain


def _as_json(lines: Iterable[Mapping[str, Any]]) -> str:
    plain = ({name: _plain(value) for name, value in line.items()} for line in lines)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in plain)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return value.isoformat() if isinstance(value, date) else value
