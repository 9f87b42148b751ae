"""Which open incident explains another: a host or endpoint that is down, what could not work without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from panel.incidents.causes import of_whole_endpoint
from panel.models import Incident, IncidentLane


def explain(teams: Collection[int]) -> None:
    """Give each open incident of these teams the parent that it has now; at most two queries, and one for
    each that gets another.

    A refused key is never explained: it is refused by an endpoint that answers.
    """
    found = Incident.objects.filter(team__in=teams, closed_at__isnull=True)
    by_team: defaultdict[int, list[Incident]] = defaultdict(list)
    for incident in found.select_related("endpoint", "host").order_by("pk"):
        by_team[incident.team_id].append(incident)
    above = [each for group in by_team.values() for each in group if each.cause.startswith("profile|")]
    stands_on = _stands_on(above)
    for group in by_team.values():
        for incident in group:
            parent = _parent(incident, group, stands_on[incident.pk])
            if incident.parent_id != (parent.pk if parent else None):
                Incident.objects.filter(pk=incident.pk).update(parent=parent)


def _parent(incident: Incident, group: Iterable[Incident], on: set[tuple[str, int]]) -> Incident | None:
    for other in group:
        if other.pk == incident.pk or other.worst != "down":
            continue
        if _is_of_host(other) and (_lives_on(incident, other) or ("host", other.host_id or 0) in on):
            return other
        if of_whole_endpoint(other.cause) and (
            ("endpoint", other.endpoint_id or 0) in on or _same_endpoint_before(incident, other)
        ):
            return other
    return None


def _is_of_host(incident: Incident) -> bool:
    return incident.cause.startswith("host|")


def _lives_on(incident: Incident, host_down: Incident) -> bool:
    """Tell whether the endpoint that does not answer is a server on the host that is down."""
    if not of_whole_endpoint(incident.cause) or incident.endpoint is None or host_down.host is None:
        return False
    return urlsplit(incident.endpoint.origin).hostname == host_down.host.address.lower()


def _same_endpoint_before(incident: Incident, other: Incident) -> bool:
    """A dying endpoint fails in several ways; the first one is told."""
    same = of_whole_endpoint(incident.cause) and incident.endpoint_id == other.endpoint_id
    return same and other.pk < incident.pk


def _stands_on(incidents: Collection[Incident]) -> defaultdict[int, set[tuple[str, int]]]:
    """Return the endpoints and hosts that the lanes of these incidents need, by the incident."""
    found: defaultdict[int, set[tuple[str, int]]] = defaultdict(set)
    if not incidents:
        return found
    rows = IncidentLane.objects.filter(incident__in=incidents, recovered_at__isnull=True).values_list(
        "incident", "lane__endpoint", "lane__profile__endpoint", "lane__profile__recipe__host"
    )
    for incident, own, inherited, host in rows:
        found[incident] |= {("endpoint", own or inherited or 0), ("host", host or 0)} - {
            ("endpoint", 0),
            ("host", 0),
        }
    return found
