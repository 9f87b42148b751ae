"""Hours and days of lanes folded into bars, shares and percentiles of a range. Reads no run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from panel import rollups
from panel.history.shapes import Strip
from panel.history.shapes_past import Percentiles, Point
from panel.models import LaneDay, LaneHour

HALF = timedelta(minutes=30)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
HALVES_A_DAY = 48
# What lies before the last full hour (or day) hardly changes any more; what it folds into is kept this many
# times a process.
FOLDS_KEPT = 4096


@dataclass(frozen=True, slots=True)
class Range:
    """A stretch of time up to now: so many bars of so many half hours each.

    Bars of whole days are folded from days, which begin at midnight of UTC, others from hours.
    """

    bars: int
    halves: int

    @property
    def bar(self) -> timedelta:
        """How long one bar is."""
        return HALF * self.halves

    @property
    def by_day(self) -> bool:
        """Whether the bars are whole days."""
        return self.halves % HALVES_A_DAY == 0

    def start(self, now: datetime) -> datetime:
        """Return where the first bar begins; the last one is the one under way."""
        return self.begins(now) - self.bar * (self.bars - 1)

    def begins(self, moment: datetime) -> datetime:
        """Return where the bar begins that the moment lies in."""
        seconds = int(self.bar.total_seconds())
        return datetime.fromtimestamp(int(moment.timestamp()) // seconds * seconds, UTC)

    def settled(self, now: datetime) -> datetime:
        """Return the moment before which the rows hardly change any more."""
        if self.by_day:
            return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - DAY
        return now.replace(minute=0, second=0, microsecond=0) - HOUR


RANGES = {"24h": Range(48, 1), "7d": Range(84, 4), "30d": Range(90, 16), "90d": Range(90, HALVES_A_DAY)}
COUNTS = ("ok", "degraded", "down", "not_testable", "missed")


class _Piece(NamedTuple):
    """An hour or a day of a lane: its counts, and (worst state, packed histogram) of each of its parts."""

    lane: int
    begins: datetime
    counts: tuple[int, ...]
    parts: tuple[tuple[str, bytes], ...]


class Fold:
    """What the rows of one lane come to in one range: worst state and histogram a bar, and counts."""

    def __init__(self, span: Range, start: datetime) -> None:
        self.span, self.start = span, start
        self.states = [""] * span.bars
        self.latency = [0] * span.bars
        self.up = self.down = self.silent = 0

    def copy(self) -> Fold:
        """Return another fold of the same rows."""
        other = Fold(self.span, self.start)
        other.states, other.latency = self.states.copy(), self.latency.copy()
        other.up, other.down, other.silent = self.up, self.down, self.silent
        return other

    def add(self, piece: _Piece) -> None:
        """Fold another row in; a part of it that lies outside the range is left out of the bars."""
        first = (piece.begins - self.start) // HALF
        for number, (worst, latency) in enumerate(piece.parts):
            self._part(first + number, worst, latency)
        ok, degraded, down, not_testable, missed = piece.counts
        self.up += ok + degraded
        self.down += down
        self.silent += not_testable + missed

    def strip(self) -> Strip:
        """Return the bars."""
        told = self.up + self.down
        return Strip(
            states=tuple(self.states),
            start=self.start,
            bar=self.span.bar,
            availability=self.up / told if told else None,
            evidence=told / (told + self.silent) if told else 0.0,
            first=next((number for number, state in enumerate(self.states) if state), None),
            told=told,
        )

    def chart(self) -> tuple[Point, ...]:
        """Return one point a bar, with the percentiles of its passes."""
        bars = enumerate(zip(self.states, self.latency, strict=True))
        return tuple(
            Point(self.start + self.span.bar * bar, *_percentiles(latency), state)
            for bar, (state, latency) in bars
        )

    def percentiles(self) -> Percentiles:
        """Return the percentiles of all passes of the range."""
        return _percentiles(sum(self.latency))

    def p95(self) -> int | None:
        """Return the 95th percentile of all passes in milliseconds; None without any."""
        return _milliseconds(sum(self.latency), 0.95)

    def _part(self, half: int, worst: str, latency: bytes) -> None:
        bar = half // self.span.halves
        if worst and 0 <= bar < self.span.bars:
            if worst != self.states[bar]:
                self.states[bar] = rollups.worst((self.states[bar], worst))
            self.latency[bar] += rollups.unpack(latency)


# By the lane (its profile's code and its key), the bar, where the range begins, and where the fold ends.
_Key = tuple[str, int, timedelta, datetime, datetime]
_folds: dict[_Key, Fold] = {}


def folds(lanes: Mapping[int, str], span: Range, now: datetime) -> dict[int, Fold]:
    """Return the fold of each lane (keys to the codes of their profiles): one query, two for a new hour.

    What lies before the last full hour is folded once an hour and process, so a count that comes
    late for an older hour is seen within the hour; with bars of days the same holds of days.
    """
    start, live = span.start(now), span.settled(now)
    keys: dict[int, _Key] = {lane: (code, lane, span.bar, start, live) for lane, code in lanes.items()}
    _fold_new({lane: key for lane, key in keys.items() if key not in _folds}, span)
    found = {lane: _folds[key].copy() if key in _folds else Fold(span, start) for lane, key in keys.items()}
    for piece in _pieces(lanes, span, live, None):
        found[piece.lane].add(piece)
    return found


def _fold_new(keys: Mapping[int, _Key], span: Range) -> None:
    if not keys:
        return
    if len(_folds) + len(keys) > FOLDS_KEPT:
        _folds.clear()
    *_, start, live = next(iter(keys.values()))
    fresh = {lane: Fold(span, start) for lane in keys}
    for piece in _pieces(keys, span, start, live):
        fresh[piece.lane].add(piece)
    _folds.update((key, fresh[lane]) for lane, key in keys.items())


def _pieces(lanes: Collection[int], span: Range, since: datetime, until: datetime | None) -> Iterator[_Piece]:
    """Read the lanes' rows from `since` (a row that it lies in counts) up to `until`: one query."""
    return _days(lanes, since, until) if span.by_day else _hours(lanes, since, until)


def _hours(lanes: Collection[int], since: datetime, until: datetime | None) -> Iterator[_Piece]:
    rows: Any = LaneHour.objects.filter(lane__in=list(lanes), hour__gt=since - HOUR)
    rows = rows.filter(hour__lt=until) if until else rows
    halves = ("worst_first", "latency_first", "worst_second", "latency_second")
    for lane, hour, *said in rows.values_list("lane_id", "hour", *COUNTS, *halves):
        yield _Piece(lane, hour, tuple(said[:5]), ((said[5], said[6]), (said[7], said[8])))


def _days(lanes: Collection[int], since: datetime, until: datetime | None) -> Iterator[_Piece]:
    rows: Any = LaneDay.objects.filter(lane__in=list(lanes), day__gte=since.date())
    rows = rows.filter(day__lt=until.date()) if until else rows
    for lane, day, *said in rows.values_list("lane_id", "day", *COUNTS, "worst", "latency"):
        yield _Piece(lane, _midnight(day), tuple(said[:5]), ((said[5], said[6]),))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(tzinfo=UTC))


def _percentiles(histogram: int) -> Percentiles:
    found = rollups.quantiles(histogram, (0.5, 0.95, 0.99))
    return Percentiles(*(None if each is None else round(each) for each in found))


def _milliseconds(histogram: int, q: float) -> int | None:
    found = rollups.quantile(histogram, q)
    return None if found is None else round(found)
