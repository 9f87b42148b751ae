"""What pages are given of a lane's past beside its bars: latencies, the heat of its hours, its runs.

As in `panel.history.shapes`: frozen, times are aware UTC, durations say their unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple


class Percentiles(NamedTuple):
    """Latencies in milliseconds below which that share of the passes lies; None without a pass."""

    p50: int | None
    p95: int | None
    p99: int | None


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the latency chart: milliseconds, None where there was no answer; `state` as in
    a strip."""

    at: datetime
    p50: int | None
    p95: int | None
    p99: int | None
    state: str


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One hour of the heat map: how many runs told ok, degraded and down."""

    ok: int = 0
    degraded: int = 0
    down: int = 0

    @property
    def told(self) -> int:
        """Runs that told anything."""
        return self.ok + self.degraded + self.down


@dataclass(frozen=True, slots=True)
class Heat:
    """A lane's hours as rows of 24, in the zone of the reader. `labels` holds the days of the rows where they
    are days, oldest first, else the numbers 0 (Monday) to 6 of the weekdays."""

    labels: tuple[date, ...] | tuple[int, ...]
    rows: tuple[tuple[HeatCell, ...], ...]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list. `status` is empty unless `state` is "done"; `at` is its slot."""

    code: str
    at: datetime
    state: str
    status: str
    rung: int | None
    reason: str
    latency_ms: int | None
    trigger: str


@dataclass(frozen=True, slots=True)
class RunList:
    """Runs of a lane, newest first. `since` and `until` are the bar they were picked by, None for the newest
    of all; `older` is the slot before which there are more, None for no more."""

    rows: tuple[RunRow, ...]
    since: datetime | None = None
    until: datetime | None = None
    older: datetime | None = None


NO_PERCENTILES = Percentiles(None, None, None)
NO_RUNS = RunList(())
