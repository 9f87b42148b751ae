"""The hours of lanes, counted as runs close.

Whoever counts holds the lane's state row (`lock_states`), so that two closers of one lane follow
each other and no count is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from panel import rollups
from panel.ledger.bulk import upsert_rows
from panel.ledger.days import DayBook, day_of
from panel.models import LaneHour, LaneState, Run

COUNTED = ("ok", "degraded", "down", "not_testable")
MAINTENANCE = "maintenance"
FIELDS = (*COUNTED, "missed", MAINTENANCE, "worst_first", "worst_second", "latency_first", "latency_second")


def hour_of(moment: datetime) -> datetime:
    """Return the beginning of the hour."""
    return moment.replace(minute=0, second=0, microsecond=0)


def lock_states(lanes: Collection[int]) -> dict[int, LaneState]:
    """Return the lanes' state rows by lane, made where absent, held until the transaction ends."""
    rows = LaneState.objects.select_for_update(of=("self",)).filter(lane__in=lanes).order_by("lane_id")
    states = {state.lane_id: state for state in rows}
    if len(states) < len(lanes):
        absent = [LaneState(lane_id=lane) for lane in lanes if lane not in states]
        LaneState.objects.bulk_create(absent, ignore_conflicts=True)
        states = {state.lane_id: state for state in rows.all()}
    return states


class HourBook:
    """The hours of some lanes and the days they lie in, read once, counted in memory, written once."""

    def __init__(self, lanes: Collection[int], hours: Collection[datetime]) -> None:
        rows = LaneHour.objects.filter(lane__in=lanes, hour__in=hours)
        self._rows = {(row.lane_id, row.hour): row for row in rows}
        self._days = DayBook(lanes, {day_of(hour) for hour in hours})

    def row(self, lane: int, hour: datetime) -> LaneHour:
        """Return the lane's hour, with zeros when it is new."""
        found = self._rows.get((lane, hour))
        if found is None:
            found = self._rows[lane, hour] = LaneHour(lane_id=lane, hour=hour)
        return found

    def count(self, lane: int, run: Run, at: datetime, confirmed: str) -> None:
        """Count a closed run in the hour it ended; `confirmed` is the lane's state after it.

        `confirmed` is empty for a run that was older than what the state was made of, and "maintenance" for
        one in maintenance: that is left out of availability and of the latencies.
        """
        row = self.row(lane, hour_of(at))
        kind = MAINTENANCE if confirmed == MAINTENANCE else run.status
        setattr(row, kind, getattr(row, kind) + 1)
        half = "first" if at.minute < 30 else "second"
        field = f"worst_{half}"
        setattr(row, field, rollups.worst((getattr(row, field), confirmed)))
        if run.latency_ms is not None and kind in ("ok", "degraded"):
            stored = f"latency_{half}"
            histogram = rollups.unpack(getattr(row, stored)) + rollups.one(run.latency_ms)
            setattr(row, stored, rollups.pack(histogram))
        self._days.count(lane, run, at, kind, confirmed)

    def miss(self, lane: int, hour: datetime, number: int) -> None:
        """Count slots of the lane's hour that did not happen."""
        self.row(lane, hour).missed += number
        self._days.miss(lane, day_of(hour), number)

    def save(self) -> None:
        """Write all rows, each table by one upsert."""
        upsert_rows(list(self._rows.values()), ("lane", "hour"), FIELDS)
        self._days.save()


def count_missed(counts: Sequence[tuple[int, datetime, int]]) -> None:
    """Count slots that did not happen: (lane, hour, number)."""
    if not counts:
        return
    lanes = {lane for lane, _, _ in counts}
    lock_states(lanes)
    book = HourBook(lanes, {hour for _, hour, _ in counts})
    for lane, hour, number in counts:
        book.miss(lane, hour, number)
    book.save()
