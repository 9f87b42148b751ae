"""What pages of lanes stand on (their rows, open runs, open incidents, the sweep), and a word for it all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from panel.history.lanes import FIELDS, OPEN, LaneRow, went_stale
from panel.history.pulses import sweep
from panel.history.shapes_incidents import OpenIncidents
from panel.history.shapes_pulse import Sweep
from panel.models import Incident, Lane, Profile, Run, Team

# What may change on a page, the last two as time goes by.
CHANGING = (
    "pk", "check_order", "in_use", "profile__version", "profile__changed_at", "check_order__paused_at",
    "now__last_run", "now__state", "now__evidence_at", "now__maintained_since", "now__maintained_until",
    "now__stale_at",
)  # fmt: skip


class _Open(NamedTuple):
    """An open incident, as far as a page without its lanes may show it."""

    pk: int
    worst: str
    taken_by: int | None
    muted_until: datetime | None
    parent: int | None


class _Running(NamedTuple):
    """An open run."""

    pk: int
    state: str
    check_order: int
    code: str


@dataclass(frozen=True, slots=True)
class Standing:
    """The lanes of a page at `now`, with all that may change on it but bars and names."""

    now: datetime
    rows: list[LaneRow]
    runs: list[_Running]
    incidents: list[_Open]
    sweep: Sweep

    @property
    def running(self) -> dict[int, str]:
        """The code of the newest open run of each check that has one, by the check."""
        return {run.check_order: run.code for run in self.runs}

    @property
    def incidents_open(self) -> OpenIncidents:
        """The open incidents that nothing else explains."""
        return open_of(incident.worst for incident in self.incidents if incident.parent is None)

    @property
    def word(self) -> str:
        """A word that changes whenever the page would: with evidence, open runs, edits, incidents, and with
        evidence that grows too old."""
        said: list[object] = []
        for row in sorted(self.rows, key=lambda row: row["pk"]):
            *facts, until, stale_at = (row[name] for name in CHANGING)
            said.append((facts, until is not None and self.now < until, went_stale(stale_at, self.now)))
        runs = sorted((run.pk, str(run.state)) for run in self.runs)
        pulse = self.sweep.silent, self.sweep.part, self.sweep.zones
        text = repr((said, [tuple(each) for each in self.incidents], runs, pulse))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_team(team: Team, now: datetime) -> Standing:
    """Return what the team's overview stands on, lanes by the names of their profiles: four queries."""
    return _of_team(team, now, FIELDS)


def of_profile(profile: Profile, now: datetime) -> Standing:
    """Return what a page of one of the profile's lanes stands on; it shows no incidents: three queries."""
    return _of_profile(profile.team, profile.code, now, FIELDS)


def newest_change(team: Team, now: datetime, profile: str = "") -> str:
    """Return the word of the team's overview, or of the page of its profile with this code, by fewer columns:
    four queries, three for a profile.

    A page that still has the same word need not be drawn again.
    """
    narrow = _of_profile(team, profile, now, CHANGING) if profile else _of_team(team, now, CHANGING)
    return narrow.word


def open_of(worst: Iterable[str]) -> OpenIncidents:
    """Return how many incidents these are, by the worst state of each, and the worst of all."""
    states = list(worst)
    return OpenIncidents(len(states), "down" if "down" in states else "degraded")


def _of_team(team: Team, now: datetime, fields: tuple[str, ...]) -> Standing:
    lanes = Lane.objects.filter(profile__team=team).order_by("profile__name", "profile_id")
    runs = Run.objects.filter(check_order__lane__profile__team=team)
    open_ones = Incident.objects.filter(team=team, closed_at__isnull=True).order_by("pk")
    incidents = [_Open(*row) for row in open_ones.values_list(*_Open._fields)]
    return Standing(now, list(lanes.values(*fields)), _open(runs), incidents, sweep(now))


def _of_profile(team: Team, code: str, now: datetime, fields: tuple[str, ...]) -> Standing:
    lanes = Lane.objects.filter(profile__team=team, profile__code=code).order_by("pk")
    rows = list(lanes.values(*fields))
    runs = Run.objects.filter(check_order__in=[row["check_order"] for row in rows])
    return Standing(now, rows, _open(runs), [], sweep(now))


def _open(runs: Any) -> list[_Running]:
    rows = runs.filter(state__in=OPEN).order_by("slot").values_list(*_Running._fields)
    return [_Running(*row) for row in rows]
