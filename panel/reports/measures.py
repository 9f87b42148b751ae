"""Counts and latencies of a team's lanes over two neighbouring periods, from their hours and days alone.

An hour belongs to the period in which it begins; a UTC day (tokens, reasons) to the one in which its noon
lies. So neighbouring periods share nothing and lose nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, time

from panel import rollups
from panel.models import LaneDay, LaneHour, Team
from panel.reports.periods import Period
from panel.reports.shapes import LETTERS

NOON = time(12, tzinfo=UTC)
HOURS_AT_ONCE = 5000
_HOUR = (
    "lane_id", "hour", "ok", "degraded", "down", "not_testable", "missed", "worst_first", "worst_second",
    "latency_first", "latency_second",
)  # fmt: skip


@dataclass(slots=True)
class Measure:
    """One lane in one period: `latency` is a histogram of `panel.rollups`, `states` the worst of each bar."""

    states: list[str] = field(default_factory=list)
    up: int = 0
    down: int = 0
    silent: int = 0
    latency: int = 0
    tokens: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def runs(self) -> int:
        """Slots that came to a result, or should have."""
        return self.up + self.down + self.silent

    @property
    def available(self) -> float | None:
        """Share of the telling runs that passed, None without any."""
        told = self.up + self.down
        return self.up / told if told else None

    @property
    def evidence(self) -> float:
        """Share of the slots that told anything."""
        return (self.up + self.down) / self.runs if self.runs else 0.0

    @property
    def bars(self) -> str:
        """One letter a bar."""
        return "".join(LETTERS[state] for state in self.states)

    @property
    def worst_reason(self) -> str:
        """The commonest reason, of equally common ones the first by name; empty for none."""
        return min(self.reasons, key=lambda reason: (-self.reasons[reason], reason), default="")

    def quantile(self, q: float) -> int | None:
        """Return a latency quantile in milliseconds, None without a pass."""
        found = rollups.quantile(self.latency, q)
        return None if found is None else round(found)


class Measures:
    """The lanes of a team in a period (`now`) and in the one before it (`then`): two queries."""

    def __init__(self, team: Team, period: Period) -> None:
        self.period, self.before = period, period.before
        self.now: defaultdict[int, Measure] = defaultdict(lambda: Measure([""] * period.bars))
        self.then: defaultdict[int, Measure] = defaultdict(Measure)
        self._read_hours(team)
        self._read_days(team)

    def _read_hours(self, team: Team) -> None:
        rows = LaneHour.objects.filter(
            lane__profile__team=team, hour__gte=self.before.begins, hour__lt=self.period.ends
        )
        for row in rows.values_list(*_HOUR).iterator(chunk_size=HOURS_AT_ONCE):
            lane, hour, ok, degraded, down, not_testable, missed, *halves = row
            measure = self._of(lane, hour)
            measure.up += ok + degraded
            measure.down += down
            measure.silent += not_testable + missed
            measure.latency += rollups.unpack(halves[2]) + rollups.unpack(halves[3])
            if hour >= self.period.begins:
                bar = (hour - self.period.begins) // self.period.bar
                measure.states[bar] = rollups.worst((measure.states[bar], *halves[:2]))

    def _read_days(self, team: Team) -> None:
        days = LaneDay.objects.filter(
            lane__profile__team=team,
            day__range=(self.before.begins.date(), self.period.ends.date()),
        )
        for lane, day, tokens, reasons in days.values_list("lane_id", "day", "tokens", "reasons"):
            noon = datetime.combine(day, NOON)
            if self.before.begins <= noon < self.period.ends:
                measure = self._of(lane, noon)
                measure.tokens += tokens
                measure.reasons.update(reasons)

    def _of(self, lane: int, moment: datetime) -> Measure:
        return (self.now if moment >= self.period.begins else self.then)[lane]


def mean(shares: list[float | None]) -> float | None:
    """Return the mean of those that are known, None where none is."""
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None
