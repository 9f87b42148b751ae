"""The UTC days of lanes, counted with their hours: states, reasons, latencies and tokens."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime

from panel import rollups
from panel.ledger.bulk import upsert_rows
from panel.models import LaneDay, Run

FIELDS = (
    "ok", "degraded", "down", "not_testable", "missed", "maintenance", "worst", "reasons", "latency",
    "tokens",
)  # fmt: skip
FAILURES = ("down", "not_testable")
PASSES = ("ok", "degraded")


def day_of(moment: datetime) -> date:
    """Return the UTC day that the moment lies in."""
    return moment.astimezone(UTC).date()


class DayBook:
    """The days of some lanes, read once, counted in memory, written once. Belongs to an `HourBook`, whose
    user holds the lanes' state rows."""

    def __init__(self, lanes: Collection[int], days: Collection[date]) -> None:
        rows = LaneDay.objects.filter(lane__in=lanes, day__in=days)
        self._rows = {(row.lane_id, row.day): row for row in rows}

    def count(self, lane: int, run: Run, at: datetime, kind: str, confirmed: str) -> None:
        """Count a closed run in the day it ended, as `kind`: its status, or "maintenance".

        What it spent counts whatever it told; its reason counts when it failed outside of maintenance.
        """
        row = self._row(lane, day_of(at))
        setattr(row, kind, getattr(row, kind) + 1)
        row.worst = rollups.worst((row.worst, confirmed))
        row.tokens += run.tokens
        if kind in FAILURES and run.reason:
            row.reasons[run.reason] = row.reasons.get(run.reason, 0) + 1
        if kind in PASSES and run.latency_ms is not None:
            row.latency = rollups.pack(rollups.unpack(bytes(row.latency)) + rollups.one(run.latency_ms))

    def miss(self, lane: int, day: date, number: int) -> None:
        """Count slots that did not happen."""
        self._row(lane, day).missed += number

    def save(self) -> None:
        """Write all rows by one upsert."""
        upsert_rows(list(self._rows.values()), ("lane", "day"), FIELDS)

    def _row(self, lane: int, day: date) -> LaneDay:
        found = self._rows.get((lane, day))
        if found is None:
            found = self._rows[lane, day] = LaneDay(lane_id=lane, day=day)
        return found
