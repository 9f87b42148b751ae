"""The open incidents that some changes concern: read at once, changed in memory, written at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db.models import Max

from panel.incidents.changes import BROKEN, OUT_OF_USE, WELL, Change
from panel.models import Incident, IncidentEntry, IncidentLane, Notice
from panel.rollups import WORST_FIRST

NAMED: Final = 5  # lanes that a line of the timeline names
Kind = IncidentEntry.Kind


@dataclass(slots=True)
class _Line:
    """A line of a timeline that gathers what happened to several lanes in one go."""

    incident: Incident
    kind: str
    at: datetime
    say: dict[str, Any]
    lanes: list[dict[str, str]] = field(default_factory=list)
    count: int = 0


class Book:
    """Takes changes in their order of time. `told` gathers what people may have to be told of."""

    def __init__(self, changes: Sequence[Change]) -> None:
        """Read what the changes concern: at most three queries."""
        teams = {change.team_id for change in changes}
        self.open = {
            (incident.team_id, incident.cause): incident
            for incident in Incident.objects.filter(team__in=teams, closed_at__isnull=True)
        }
        self.parts: dict[int, IncidentLane] = {}
        self.left: defaultdict[int, set[int]] = defaultdict(set)
        for part in _open_parts(list(self.open.values())):
            self.parts[part.lane_id] = part
            self.left[part.incident_id].add(part.lane_id)
        self.incidents = {incident.pk: incident for incident in self.open.values()}
        self.told: list[tuple[Incident, str, datetime]] = []
        self.moved = False  # an incident opened, closed or got worse
        self._numbers: dict[int, int] = {}
        self._new: list[IncidentLane] = []
        self._changed: dict[int, IncidentLane] = {}
        self._lines: dict[tuple[int, str, str], _Line] = {}

    def take(self, change: Change) -> None:
        """Let one change open, join, change, leave or close an incident."""
        part = self.parts.get(change.lane_id)
        if change.after in BROKEN:
            self._broken(change, part)
        elif part is None:
            return
        elif change.after in (WELL, OUT_OF_USE):
            if not change.held or change.after == OUT_OF_USE:
                self._leave(change, part, well=True)
        else:
            self._note(part.incident, Kind.CHANGED, change, state=change.after)

    def write(self) -> None:
        """Write lanes and timelines; those who left first, since a lane is in one open incident at most."""
        IncidentLane.objects.bulk_create(
            self._changed.values(),
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=["state", "reason", "recovered_at", "run"],
        )
        IncidentLane.objects.bulk_create(self._new)
        IncidentEntry.objects.bulk_create(
            IncidentEntry(
                incident=line.incident, kind=line.kind, at=line.at,
                say=line.say | {"lanes": line.lanes, "count": line.count},
            )
            for line in self._lines.values()
        )  # fmt: skip

    def _broken(self, change: Change, part: IncidentLane | None) -> None:
        incident = self.open.get((change.team_id, change.cause.text))
        if part is not None and incident is not None and part.incident_id == incident.pk:
            self._update(change, part)
            return
        if part is not None:
            self._leave(change, part, well=_better(change.after, part.state))
            incident = self.open.get((change.team_id, change.cause.text))
        opened = incident is None
        if incident is None:
            incident = self._open(change)
        self._join(change, incident, opened=opened)

    def _open(self, change: Change) -> Incident:
        incident = Incident.objects.create(
            team_id=change.team_id, number=self._next_number(change.team_id), cause=change.cause.text,
            reason=change.reason, rung=change.rung, worst=change.after, opened_at=change.at,
            endpoint_id=change.cause.endpoint_id, host_id=change.cause.host_id,
        )  # fmt: skip
        self.open[change.team_id, change.cause.text] = incident
        self.incidents[incident.pk] = incident
        self.told.append((incident, Notice.Kind.OPENED, change.at))
        self.moved = True
        return incident

    def _next_number(self, team: int) -> int:
        if team not in self._numbers:
            highest = Incident.objects.filter(team=team).aggregate(highest=Max("number"))["highest"]
            self._numbers[team] = highest or 0
        self._numbers[team] += 1
        return self._numbers[team]

    def _join(self, change: Change, incident: Incident, *, opened: bool) -> None:
        part = IncidentLane(
            incident=incident, lane_id=change.lane_id, state=change.after, reason=change.reason,
            joined_at=change.at, run_id=change.run_id,
        )  # fmt: skip
        self._new.append(part)
        self.parts[change.lane_id] = part
        self.left[incident.pk].add(change.lane_id)
        with_opening = opened or (incident.pk, Kind.OPENED, "") in self._lines
        if with_opening:
            say = {"state": change.after, "reason": change.reason}
            self._note(incident, Kind.OPENED, change, key="", **say)
        else:
            self._note(incident, Kind.JOINED, change, state=change.after)
        self._worsen(change, incident)

    def _update(self, change: Change, part: IncidentLane) -> None:
        if part.state != change.after:
            self._note(part.incident, Kind.CHANGED, change, state=change.after)
        part.state, part.reason, part.run_id = change.after, change.reason, change.run_id
        self._touch(part)
        self._worsen(change, part.incident)

    def _worsen(self, change: Change, incident: Incident) -> None:
        if not _better(incident.worst, change.after):
            return
        incident.worst, incident.reason, incident.rung = change.after, change.reason, change.rung
        incident.save(update_fields=["worst", "reason", "rung"])
        self.moved = True
        # What opens in this very moment is told as it is then.
        if (incident, Notice.Kind.OPENED) not in [(each, kind) for each, kind, _ in self.told]:
            self.told.append((incident, Notice.Kind.CHANGED, change.at))

    def _leave(self, change: Change, part: IncidentLane, *, well: bool) -> None:
        part.recovered_at = change.at
        self._touch(part)
        del self.parts[change.lane_id]
        incident = part.incident
        self.left[incident.pk].discard(change.lane_id)
        self._note(incident, Kind.RECOVERED, change, state=change.after, moved=change.after in BROKEN)
        if not self.left[incident.pk]:
            self.close(incident, change.at, tell=well)

    def close(self, incident: Incident, at: datetime, *, tell: bool) -> None:
        """Close an incident in which no lane is left."""
        incident.closed_at = max(at, incident.opened_at)
        incident.save(update_fields=["closed_at"])
        del self.open[incident.team_id, incident.cause]
        self._lines[incident.pk, Kind.CLOSED, ""] = _Line(incident, Kind.CLOSED, at, {})
        self.moved = True
        if tell:
            self.told.append((incident, Notice.Kind.RECOVERED, at))

    def _touch(self, part: IncidentLane) -> None:
        if part.pk is not None:
            self._changed[part.pk] = part

    def _note(
        self, incident: Incident, kind: str, change: Change, *, key: str | None = None, **say: Any
    ) -> None:
        where = (incident.pk, kind, change.after if key is None else key)
        line = self._lines.setdefault(where, _Line(incident, kind, change.at, say))
        line.count += 1
        if len(line.lanes) < NAMED:
            line.lanes.append({"profile": change.profile, "kind": change.kind})


def _open_parts(incidents: Collection[Incident]) -> list[IncidentLane]:
    by_pk = {incident.pk: incident for incident in incidents}
    parts = list(IncidentLane.objects.filter(incident__in=by_pk, recovered_at__isnull=True))
    for part in parts:
        part.incident = by_pk[part.incident_id]
    return parts


def _better(state: str, than: str) -> bool:
    return WORST_FIRST.index(state) > WORST_FIRST.index(than)
