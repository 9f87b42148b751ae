"""What is let go when it is old: a team says for how many days it keeps its runs, and how many its hours.

Old rows are found lane by lane by the unique index on lane and time, so what a call costs goes with what it
deletes and not with the length of the history. All is deleted in small bites, each its own transaction, so
that writers wait for none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db.models import Model

from panel.ledger.readings import prune_readings
from panel.models import Lane, LaneDay, LaneHour, Run, Team, Transition

DAYS_KEPT = 5 * 366  # days are few, and what a year is compared with
LANES_AT_ONCE = 200
BITE = 2500
BITES = 40


def prune(now: datetime) -> None:
    """Delete what is past its time, as much as one call may; kept steps go with their runs."""
    for days in _different("runs_days"):
        _prune(
            Run, "check_order", "slot", _lanes("runs_days", days, "check_order"), now - timedelta(days=days)
        )
    for days in _different("hours_days"):
        lanes, cutoff = _lanes("hours_days", days, "pk"), now - timedelta(days=days)
        _prune(LaneHour, "lane", "hour", lanes, cutoff)
        _prune(Transition, "lane", "at", lanes, cutoff)
    every = list(Lane.objects.values_list("pk", flat=True))
    _prune(LaneDay, "lane", "day", every, now - timedelta(days=DAYS_KEPT))
    prune_readings(now)


def _different(field: str) -> list[int]:
    """Return the numbers of days that teams chose."""
    return list(Team.objects.order_by(field).values_list(field, flat=True).distinct())


def _lanes(field: str, days: int, key: str) -> list[int]:
    """Return the lanes (or their checks) of the teams that chose this number of days."""
    lanes = Lane.objects.filter(**{f"profile__team__{field}": days, f"{key}__isnull": False})
    return list(lanes.order_by("pk").values_list(key, flat=True))


def _prune(model: type[Model], key: str, at: str, owners: Sequence[int], cutoff: datetime) -> None:
    """Delete rows of these owners whose time is before `cutoff`."""
    for pks in islice(_bites(model, key, at, owners, cutoff), BITES):
        model._default_manager.filter(pk__in=pks).delete()


def _bites(
    model: type[Model], key: str, at: str, owners: Sequence[int], cutoff: datetime
) -> Iterator[list[int]]:
    """Yield keys of old rows; what was yielded must be gone before the next is asked for."""
    for first in range(0, len(owners), LANES_AT_ONCE):
        some = owners[first : first + LANES_AT_ONCE]
        old = model._default_manager.filter(**{f"{key}__in": some, f"{at}__lt": cutoff}).order_by()
        while pks := list(old.values_list("pk", flat=True)[:BITE]):
            yield pks
            if len(pks) < BITE:
                break
