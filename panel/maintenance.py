"""Maintenance as it holds now: which lanes are covered, and what is planned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from panel import ledger, timetable
from panel.models import Lane, LaneState, Maintenance, Profile, Team
from panel.timetable import Spell

SHOWN = 50


@dataclass(frozen=True, slots=True)
class Planned:
    """A maintenance that is on, or is still to come.

    `spell` is the one that holds now, else None; `coming` is the next one that begins later, None for none.
    """

    row: Maintenance
    spell: Spell | None
    coming: Spell | None


def covers(lane: Lane, at: datetime) -> bool:
    """Tell whether the lane is in maintenance then, by what the sweep wrote: no query where `lane.now` is
    loaded."""
    state: LaneState | None = getattr(lane, "now", None)
    since = state.maintained_since if state else None
    until = state.maintained_until if state else None
    return since is not None and until is not None and since <= at < until


def active(team: Team, now: datetime) -> list[Planned]:
    """Return the team's maintenances that hold now, the first to end first."""
    found = _planned(Maintenance.objects.filter(team=team), now)
    return sorted((each for each in found if each.spell), key=lambda each: each.row.ends_at)


def planned_for(profile: Profile, now: datetime) -> list[Planned]:
    """Return what holds now or is to come for the profile, a lane of it, its host or its team."""
    recipe = getattr(profile, "recipe", None)
    mine = Q(profile=profile) | Q(lane__profile=profile) | Q(profile=None, lane=None, host=None)
    if recipe is not None and recipe.host_id is not None:
        mine |= Q(host=recipe.host_id)
    return _planned(Maintenance.objects.filter(mine, team=profile.team_id), now)


def keep(now: datetime) -> None:
    """Write beside each lane's state whether it is in maintenance: three queries where none is planned, or
    fewer."""
    held: dict[int, Spell] = {}
    for row in _open(Maintenance.objects.all(), now).filter(starts_at__lte=now):
        spell = timetable.spell_at(row, now)
        if spell is None:
            continue
        for lane in _lanes(row).values_list("pk", flat=True):
            other = held.get(lane, spell)
            held[lane] = Spell(min(spell.since, other.since), max(spell.until, other.until))
    ledger.keep_maintained(held, now)


def _open(rows: QuerySet[Maintenance], now: datetime) -> QuerySet[Maintenance]:
    return rows.filter(Q(ended_at=None) | Q(ended_at__gt=now), ends_at__gt=now)


def _planned(rows: QuerySet[Maintenance], now: datetime) -> list[Planned]:
    shown = _open(rows, now).select_related("profile", "lane__profile", "host", "made_by")
    found = (_as_planned(row, now) for row in shown.order_by("starts_at", "pk")[:SHOWN])
    return [each for each in found if each.spell or each.coming]


def _as_planned(row: Maintenance, now: datetime) -> Planned:
    coming: Iterable[Spell] = timetable.next_spells(row, now, 1)
    return Planned(row, timetable.spell_at(row, now), next(iter(coming), None))


def _lanes(row: Maintenance) -> QuerySet[Lane]:
    lanes = Lane.objects.filter(profile__team=row.team_id)
    if row.lane_id is not None:
        return lanes.filter(pk=row.lane_id)
    if row.profile_id is not None:
        return lanes.filter(profile=row.profile_id)
    if row.host_id is not None:
        return lanes.filter(profile__recipe__host=row.host_id)
    return lanes
