"""What lanes were from one moment to another: equal neighbours merged, no evidence shown as a gap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from panel.history.shapes_incidents import SpanRow, Spell
from panel.models import Lane, Recipe, Run, Transition
from panel.timetable import STALE_AFTER

RUNS_READ = 4000
SHALLOW = 2
_WORST_FIRST = ("down", "not_testable", "degraded", "ok")


class _Moment(NamedTuple):
    at: datetime
    state: str


def spans(lanes: Sequence[Lane], begins: datetime, ends: datetime) -> tuple[SpanRow, ...]:
    """Return a row for each lane and, where its recipe climbs from two places, for each place: two queries.

    The lanes come with their profiles, recipes, checks and states. A row of one place tells the confirmed
    states, a row of two what each climb saw from there.
    """
    changes = _changes(lanes, begins, ends)
    seen = _seen([lane for lane in lanes if _has_two_places(lane)], begins, ends)
    rows = []
    for lane in lanes:
        if seen.get(lane.pk):
            rows += [
                _row(lane, place, moments, begins, ends) for place, moments in sorted(seen[lane.pk].items())
            ]
        else:
            rows.append(_row(lane, "", changes[lane.pk], begins, ends))
    return tuple(rows)


def _row(lane: Lane, place: str, moments: Sequence[_Moment], begins: datetime, ends: datetime) -> SpanRow:
    profile = lane.profile
    return SpanRow(profile.name, lane.kind, profile.generation, place, _spells(moments, begins, ends))


def _changes(lanes: Sequence[Lane], begins: datetime, ends: datetime) -> dict[int, list[_Moment]]:
    """Return what each lane was at the beginning and what it became."""
    found: dict[int, list[_Moment]] = {lane.pk: [] for lane in lanes}
    rows = Transition.objects.filter(lane__in=found, at__gt=begins).order_by("at", "pk")
    for pk, at, before, after in rows.values_list("lane", "at", "before", "after"):
        if not found[pk]:
            found[pk].append(_Moment(begins, before))
        if at <= ends:
            found[pk].append(_Moment(at, after))
    for lane in lanes:
        if not found[lane.pk]:
            state = getattr(lane, "now", None)
            found[lane.pk].append(_Moment(begins, state.state if state else "unknown"))
    return found


def _has_two_places(lane: Lane) -> bool:
    recipe = getattr(lane.profile, "recipe", None)
    return recipe is not None and recipe.where == Recipe.Where.BOTH


def _seen(lanes: Sequence[Lane], begins: datetime, ends: datetime) -> dict[int, dict[str, list[_Moment]]]:
    """Return what was seen of each lane from each of its places. A pass passed from all of them."""
    if not lanes:
        return {}
    places = {lane.pk: (lane.check_order.place, f"host:{lane.profile.recipe.host}") for lane in lanes}
    lasts = {lane.pk: STALE_AFTER * timedelta(seconds=lane.check_order.interval_s) for lane in lanes}
    found: dict[int, dict[str, list[_Moment]]] = {
        pk: {name: [] for name in names} for pk, names in places.items()
    }
    since = begins - max(lasts.values())  # what was seen a little earlier still holds at the beginning
    rows = Run.objects.filter(check_order__lane__in=places, state="done", slot__gte=since, slot__lte=ends)
    values = rows.order_by("finished_at").values_list(
        "check_order__lane", "finished_at", "status", "kept_steps__steps"
    )
    for lane, at, status, steps in values[:RUNS_READ]:
        if at is None:
            continue
        told = _by_place(steps or (), places[lane][0])
        for place in places[lane]:
            _tell(found[lane][place], at, told.get(place) or status, lasts[lane])
    for lane, by_place in found.items():
        for moments in by_place.values():
            if moments and moments[-1].at + lasts[lane] < ends:
                moments.append(_Moment(moments[-1].at + lasts[lane], "unknown"))
    return found


def _tell(moments: list[_Moment], at: datetime, state: str, lasts: timedelta) -> None:
    """Add what was seen; evidence that had grown old by then was none for a while."""
    if moments and at - moments[-1].at > lasts:
        moments.append(_Moment(moments[-1].at + lasts, "unknown"))
    moments.append(_Moment(at, state))


def _by_place(steps: Iterable[Mapping[str, Any]], usual: str) -> dict[str, str]:
    said: defaultdict[str, set[str]] = defaultdict(set)
    for step in steps:
        if step["rung"] <= SHALLOW and step["status"] in _WORST_FIRST:
            said[step.get("place") or usual].add(step["status"])
    return {place: min(states, key=_WORST_FIRST.index) for place, states in said.items()}


def _spells(moments: Sequence[_Moment], begins: datetime, ends: datetime) -> tuple[Spell, ...]:
    """Merge equal neighbours; what lies before the first moment is unknown."""
    spells: list[Spell] = []
    for here, following in pairwise([_Moment(begins, "unknown"), *moments, _Moment(ends, "")]):
        if following.at <= max(here.at, begins):
            continue
        if spells and spells[-1].state == here.state:
            spells[-1] = Spell(here.state, spells[-1].begins, following.at)
        else:
            spells.append(Spell(here.state, max(here.at, begins), following.at))
    return tuple(spells)
