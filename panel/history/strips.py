"""Hours of lanes folded into bars, shares and percentiles of a range. Reads no run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from panel import rollups
from panel.history.shapes import Point, Strip
from panel.models import LaneHour

HALF = timedelta(minutes=30)
HOUR = timedelta(hours=1)
# Hours before the last one hardly change any more; what they fold into is kept this many times a process.
FOLDS_KEPT = 4096


@dataclass(frozen=True, slots=True)
class Range:
    """A stretch of time up to now: so many bars of so many half hours each."""

    bars: int
    halves: int

    @property
    def bar(self) -> timedelta:
        """How long one bar is."""
        return HALF * self.halves

    def start(self, now: datetime) -> datetime:
        """Return where the first bar begins; the last one is the one under way."""
        seconds = int(self.bar.total_seconds())
        last = int(now.timestamp()) // seconds * seconds
        return datetime.fromtimestamp(last - seconds * (self.bars - 1), UTC)


RANGES = {"24h": Range(48, 1), "7d": Range(84, 4), "30d": Range(90, 16)}


class _Hour(NamedTuple):
    lane: int
    hour: datetime
    ok: int
    degraded: int
    down: int
    not_testable: int
    missed: int
    worst_first: str
    worst_second: str
    latency_first: bytes
    latency_second: bytes


class Fold:
    """What the hours of one lane come to in one range: worst state and histogram a bar, and counts."""

    def __init__(self, span: Range, start: datetime) -> None:
        self.span, self.start = span, start
        self.states = [""] * span.bars
        self.latency = [0] * span.bars
        self.up = self.down = self.silent = 0

    def copy(self) -> Fold:
        """Return another fold of the same hours."""
        other = Fold(self.span, self.start)
        other.states, other.latency = self.states.copy(), self.latency.copy()
        other.up, other.down, other.silent = self.up, self.down, self.silent
        return other

    def add(self, hour: _Hour) -> None:
        """Fold another hour in; a half of it that lies outside the range is left out of the bars."""
        first = (hour.hour - self.start) // HALF
        self._half(first, hour.worst_first, hour.latency_first)
        self._half(first + 1, hour.worst_second, hour.latency_second)
        self.up += hour.ok + hour.degraded
        self.down += hour.down
        self.silent += hour.not_testable + hour.missed

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
        )

    def chart(self) -> tuple[Point, ...]:
        """Return one point a bar, with the percentiles of its passes."""
        bars = enumerate(zip(self.states, self.latency, strict=True))
        return tuple(
            Point(
                self.start + self.span.bar * bar,
                _milliseconds(latency, 0.5),
                _milliseconds(latency, 0.95),
                state,
            )
            for bar, (state, latency) in bars
        )

    def p95(self) -> int | None:
        """Return the 95th percentile of all passes in milliseconds; None without any."""
        return _milliseconds(sum(self.latency), 0.95)

    def _half(self, half: int, worst: str, latency: bytes) -> None:
        bar = half // self.span.halves
        if worst and 0 <= bar < self.span.bars:
            if worst != self.states[bar]:
                self.states[bar] = rollups.worst((self.states[bar], worst))
            self.latency[bar] += rollups.unpack(latency)


# By the lane (its profile's code and its key), where the range begins, and the first hour not folded.
_Key = tuple[str, int, timedelta, datetime, datetime]
_folds: dict[_Key, Fold] = {}


def folds(lanes: Mapping[int, str], span: Range, now: datetime) -> dict[int, Fold]:
    """Return the fold of each lane (keys to the codes of their profiles): one query, two for a new hour.

    What lies before the last full hour is folded once an hour and process, so a count that comes
    late for an older hour is seen within the hour.
    """
    start, live = span.start(now), now.replace(minute=0, second=0, microsecond=0) - HOUR
    keys: dict[int, _Key] = {lane: (code, lane, span.bar, start, live) for lane, code in lanes.items()}
    _fold_new({lane: key for lane, key in keys.items() if key not in _folds}, span)
    found = {lane: _folds[key].copy() if key in _folds else Fold(span, start) for lane, key in keys.items()}
    for hour in _hours(lanes, LaneHour.objects.filter(hour__gte=live)):
        found[hour.lane].add(hour)
    return found


def _fold_new(keys: Mapping[int, _Key], span: Range) -> None:
    if not keys:
        return
    if len(_folds) + len(keys) > FOLDS_KEPT:
        _folds.clear()
    *_, start, live = next(iter(keys.values()))
    fresh = {lane: Fold(span, start) for lane in keys}
    for hour in _hours(keys, LaneHour.objects.filter(hour__gt=start - HOUR, hour__lt=live)):
        fresh[hour.lane].add(hour)
    _folds.update((key, fresh[lane]) for lane, key in keys.items())


def _hours(lanes: Collection[int], rows: Any) -> Iterable[_Hour]:
    names = [f"{name}_id" if name == "lane" else name for name in _Hour._fields]
    return map(_Hour._make, rows.filter(lane__in=list(lanes)).values_list(*names))


def _milliseconds(histogram: int, q: float) -> int | None:
    found = rollups.quantile(histogram, q)
    return None if found is None else round(found)
