"""How long lanes were down and degraded, from the changes of their confirmed states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise
from typing import NamedTuple

from django.db.models import OuterRef, Subquery

from panel.models import Lane, Team, Transition


class Spell(NamedTuple):
    """A lane was in `state` from `begins` until `ends`."""

    state: str
    begins: datetime
    ends: datetime


@dataclass(frozen=True, slots=True)
class LaneSpells:
    """The bad times of one lane in one window, in seconds; `longest_s` is the longest down at a stretch, and
    `down_at_end` whether it was down when the window closed."""

    down_s: int = 0
    degraded_s: int = 0
    longest_s: int = 0
    down_at_end: bool = False


class Spells:
    """The bad times of a team's lanes from `begins` until `until`: two queries."""

    def __init__(self, team: Team, begins: datetime, until: datetime) -> None:
        last_before = Transition.objects.filter(lane=OuterRef("pk"), at__lt=begins).order_by("-at", "-pk")
        lanes = Lane.objects.filter(profile__team=team, in_use=True).annotate(
            state_before=Subquery(last_before.values("after")[:1])
        )
        changes = Transition.objects.filter(lane__profile__team=team, at__gte=begins, at__lt=until)
        rows = changes.order_by("lane_id", "at", "pk").values_list("lane_id", "at", "after")
        by_lane = {lane: [row[1:] for row in group] for lane, group in groupby(rows, key=lambda row: row[0])}
        self._spells: dict[int, list[Spell]] = {}
        self.limits: dict[int, int | None] = {}
        for lane in lanes.values_list("pk", "state_before", "check_order__paused_at", "latency_limit_ms"):
            pk, state, paused_at, self.limits[pk] = lane
            # Who paused the checks of a broken lane did not make its outage longer.
            end = min(until, max(begins, paused_at)) if paused_at else until
            self._spells[pk] = list(_spells([(begins, state or ""), *by_lane.get(pk, [])], end))

    def within(self, lane: int, begins: datetime, until: datetime) -> LaneSpells:
        """Return the bad times of the lane in a part of the whole."""
        down, degraded = (
            list(_lengths(self._spells.get(lane, ()), state, begins, until)) for state in ("down", "degraded")
        )
        ends = any(each.state == "down" and each.ends >= until for each in self._spells.get(lane, ()))
        return LaneSpells(sum(down), sum(degraded), max(down, default=0), ends)

    def longest(self, begins: datetime, until: datetime) -> int:
        """Return the longest time in seconds that any lane was down at a stretch."""
        return max((self.within(lane, begins, until).longest_s for lane in self._spells), default=0)


def _spells(changes: list[tuple[datetime, str]], end: datetime) -> Iterator[Spell]:
    for (at, state), (following, _) in pairwise([*changes, (end, "")]):
        if state in ("down", "degraded") and at < end:
            yield Spell(state, at, min(following, end))


def _lengths(spells: Iterable[Spell], state: str, begins: datetime, until: datetime) -> Iterator[int]:
    for spell in spells:
        seconds = (min(spell.ends, until) - max(spell.begins, begins)).total_seconds()
        if spell.state == state and seconds > 0:
            yield int(seconds)
