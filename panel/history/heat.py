"""A lane's hours side by side: is it always the same hour, or the same day, that fails?"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta, tzinfo

from panel.history.shapes_past import Heat, HeatCell
from panel.models import LaneHour

# Ranges up to so long have a row a day, longer ones a row a weekday.
ROW_A_DAY = timedelta(days=8)
HOURS = range(24)
WEEKDAYS = range(7)


def heat(lane: int, since: datetime, now: datetime, zone: tzinfo) -> Heat:
    """Return the heat of the lane's hours since then, by the clock of the zone: one query.

    Where the clock is put back, both hours of the same name are one cell.
    """
    by_weekday = now - since > ROW_A_DAY
    cells: defaultdict[object, list[int]] = defaultdict(lambda: [0, 0, 0])
    rows = LaneHour.objects.filter(lane=lane, hour__gte=since)
    for hour, *counts in rows.values_list("hour", "ok", "degraded", "down"):
        local = hour.astimezone(zone)
        cell = cells[local.weekday() if by_weekday else local.date(), local.hour]
        for number, count in enumerate(counts):
            cell[number] += count
    first, last = since.astimezone(zone).date(), now.astimezone(zone).date()
    days = tuple(first + timedelta(days=number) for number in range((last - first).days + 1))
    labels = tuple(WEEKDAYS) if by_weekday else days
    return Heat(labels, tuple(tuple(HeatCell(*cells[label, hour]) for hour in HOURS) for label in labels))
