"""Hours of lanes folded into bars, shares and percentiles of a range. Reads no run."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast

from panel import rollups
from panel.history.shapes import Point, Strip
from panel.models import LaneHour

HALF = timedelta(minutes=30)


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

# lane, hour, ok, degraded, down, not testable, missed, worst of both halves, latency as JSON text
HourRow = tuple[int, datetime, int, int, int, int, int, str, str, str]


def hours_of(lanes: Collection[int], span: Range, now: datetime) -> dict[int, list[HourRow]]:
    """Return the hours of the lanes that lie in the range, by lane, oldest first."""
    rows: Any = (
        LaneHour.objects.filter(lane__in=lanes, hour__gte=span.start(now) - HALF)
        .order_by("lane", "hour")
        .annotate(text=Cast("latency", TextField()))
        .values_list(
            "lane_id", "hour", "ok", "degraded", "down", "not_testable", "missed", "worst_first",
            "worst_second", "text",
        )
    )  # fmt: skip
    by_lane: defaultdict[int, list[HourRow]] = defaultdict(list)
    for row in rows:
        by_lane[row[0]].append(row)
    return by_lane


def strip(hours: Sequence[HourRow], span: Range, now: datetime) -> Strip:
    """Return the range of one lane as bars."""
    start = span.start(now)
    bars = [""] * span.bars
    for hour in hours:
        for bar, worst, _ in _halves(hour, start, span):
            if worst:
                bars[bar] = rollups.worst((bars[bar], worst))
    up = sum(hour[2] + hour[3] for hour in hours)
    told = up + sum(hour[4] for hour in hours)
    silent = sum(hour[5] + hour[6] for hour in hours)
    return Strip(
        states=tuple(bars),
        start=start,
        bar=span.bar,
        availability=up / told if told else None,
        evidence=told / (told + silent) if told else 0.0,
        first=next((number for number, state in enumerate(bars) if state), None),
    )


def chart(hours: Sequence[HourRow], span: Range, now: datetime) -> tuple[Point, ...]:
    """Return one point a bar, with the percentiles of its passes."""
    start = span.start(now)
    states = strip(hours, span, now).states
    histograms: list[list[dict[int, int]]] = [[] for _ in range(span.bars)]
    for hour in hours:
        latency = json.loads(hour[9])
        for bar, _, half in _halves(hour, start, span):
            histograms[bar].append(_histogram(latency, half))
    points = []
    for bar, parts in enumerate(histograms):
        merged = rollups.merge(parts)
        points.append(
            Point(start + span.bar * bar, percentile(merged, 0.5), percentile(merged, 0.95), states[bar])
        )
    return tuple(points)


def p95(hours: Sequence[HourRow]) -> int | None:
    """Return the 95th percentile of the passes of all these hours in milliseconds; None without any."""
    merged: dict[int, int] = {}
    for hour in hours:
        if hour[9] != "{}":
            latency = json.loads(hour[9])
            merged = rollups.merge((merged, *(_histogram(latency, half) for half in latency)))
    return percentile(merged, 0.95)


def percentile(histogram: dict[int, int], q: float) -> int | None:
    """Return a quantile in whole milliseconds."""
    found = rollups.quantile(histogram, q)
    return None if found is None else round(found)


def _halves(hour: HourRow, start: datetime, span: Range) -> Iterator[tuple[int, str, str]]:
    """Yield (bar, worst state, name of the half) of the halves of an hour that lie in the range."""
    first = (hour[1] - start) // HALF
    for offset, worst, name in ((0, hour[7], "first"), (1, hour[8], "second")):
        bar = (first + offset) // span.halves
        if 0 <= bar < span.bars:
            yield bar, worst, name


def _histogram(latency: dict[str, dict[str, int]], half: str) -> dict[int, int]:
    return {int(bucket): count for bucket, count in latency.get(half, {}).items()}
