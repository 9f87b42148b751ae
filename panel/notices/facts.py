"""What a notice says, as data: names, codes and numbers, taken from the rows when it is planned."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet

from panel.models import Incident, IncidentLane, Team

SHOWN: Final = 8
"""Lanes that a message names; of the others it says how many they are."""


def of_incident(incident: Incident, at: datetime) -> dict[str, Any]:
    """Return the facts of an incident: those lanes first that are still broken."""
    lanes = IncidentLane.objects.filter(incident=incident)
    broken = lanes.filter(recovered_at__isnull=True)
    elsewhere = _still_down(incident.team).exclude(incident=incident)
    return {
        "number": incident.number,
        "reason": incident.reason,
        "rung": incident.rung,
        "state": incident.worst,
        "opened_at": incident.opened_at.isoformat(),
        "closed_at": incident.closed_at.isoformat() if incident.closed_at else "",
        "taken_by": str(incident.taken_by) if incident.taken_by else "",
        "lanes": _named(broken if not incident.closed_at else lanes),
        "lane_count": (broken if not incident.closed_at else lanes).count(),
        "recovered_count": lanes.filter(recovered_at__isnull=False).count(),
        "still": _named(elsewhere),
        "still_count": elsewhere.count(),
        "at": at.isoformat(),
    }


def _still_down(team: Team) -> QuerySet[IncidentLane]:
    return IncidentLane.objects.filter(
        incident__team=team, incident__closed_at__isnull=True, recovered_at__isnull=True
    )


def _named(lanes: QuerySet[IncidentLane]) -> list[dict[str, str]]:
    rows = lanes.order_by("joined_at", "pk").values_list(
        "lane__profile__name",
        "lane__profile__environment",
        "lane__profile__generation",
        "lane__kind",
        "state",
    )
    names = ("profile", "environment", "generation", "lane", "state")
    return [dict(zip(names, row, strict=True)) for row in rows[:SHOWN]]
