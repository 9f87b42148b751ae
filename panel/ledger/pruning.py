"""What is let go when it is old: passes after a week, failures after a month, hours after a year.

Runs are found by their primary key, which grows with time, so no scan and no index on time is
needed: the boundary is looked for by halving. All is deleted in small bites, so that writers wait
for none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Max, Min, Model, QuerySet

from panel.ledger.readings import prune_readings
from panel.models import LaneHour, Run, Transition

PASSES_KEPT = timedelta(days=7)
RUNS_KEPT = timedelta(days=31)
HOURS_KEPT = timedelta(days=400)
BITE = 2500
BITES = 40


def prune(now: datetime) -> None:
    """Delete what is past its time, as much as one call may; kept steps go with their runs."""
    dead = Run.objects.filter(pk__lt=_boundary(now - RUNS_KEPT))
    plain = Run.objects.filter(pk__lt=_boundary(now - PASSES_KEPT), status="ok", trigger=Run.Trigger.SCHEDULE)
    _delete(dead)
    _delete(plain)
    prune_readings(now)
    _delete(_oldest(LaneHour.objects.all(), "hour", now - HOURS_KEPT))
    _delete(_oldest(Transition.objects.all(), "at", now - HOURS_KEPT))


def _boundary(cutoff: datetime) -> int:
    """Return a primary key before which all runs have slots before `cutoff`."""
    ends = Run.objects.aggregate(low=Min("pk"), high=Max("pk"))
    low, high = ends["low"] or 0, (ends["high"] or 0) + 1
    while low < high:
        middle = (low + high) // 2
        row = Run.objects.filter(pk__gte=middle).order_by("pk").values_list("pk", "slot").first()
        if row is not None and row[1] < cutoff:
            low = row[0] + 1
        else:
            high = middle
    return low


def _oldest(rows: QuerySet[Model], field: str, cutoff: datetime) -> QuerySet[Model]:
    """Return those of the first rows by key that are past their time: the oldest stand at the front."""
    front = rows.order_by("pk").values_list("pk", field)[: BITE * BITES]
    return rows.filter(pk__in=[pk for pk, at in front if at < cutoff])


def _delete(rows: QuerySet[Model]) -> None:
    for pks in _bites(rows):
        rows.model._default_manager.filter(pk__in=pks).delete()


def _bites(rows: QuerySet[Model]) -> Iterator[list[int]]:
    for _ in range(BITES):
        pks = list(rows.order_by("pk").values_list("pk", flat=True)[:BITE])
        if not pks:
            return
        yield pks
