"""Incidents as pages show them: the list by cause, one incident with its lanes, spans and timeline."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil

from django.db.models import Count, F, Q, QuerySet

from panel.history.shapes_incidents import (
    EntryView,
    IncidentList,
    IncidentMark,
    IncidentPage,
    IncidentRow,
    KeyView,
    OpenIncidents,
    TouchedLane,
)
from panel.history.spans import spans
from panel.history.standing import open_of
from panel.models import Host, Incident, IncidentLane, KeyVersion, Run, Team, User

A_PAGE = 25
LOOKED_BACK = timedelta(days=90)
LANES_SHOWN, SPANS_SHOWN, ENTRIES_SHOWN, CHILDREN_SHOWN = 50, 24, 200, 20
# Before it broke and after it ended, so that one sees it break and mend.
LEAST_MARGIN = timedelta(minutes=30)


def incidents_page(
    team: Team,
    now: datetime,
    *,
    shown: str = "all",
    whose: User | None = None,
    untaken: bool = False,
    page: int = 1,
) -> IncidentList:
    """Return a page of the team's incidents of the last 90 days, and of all that are open: three queries.

    `shown` is "all", "open" or "closed"; `whose` keeps those that this person has, `untaken` those that
    nobody has. A page beyond the last is the last.
    """
    mine = Incident.objects.filter(team=team)
    still_open = mine.filter(closed_at__isnull=True).count()
    wanted = mine.filter(Q(closed_at__isnull=True) | Q(opened_at__gte=now - LOOKED_BACK))
    if shown in ("open", "closed"):
        wanted = wanted.filter(closed_at__isnull=shown == "open")
    if whose is not None:
        wanted = wanted.filter(taken_by=whose)
    if untaken:
        wanted = wanted.filter(taken_by__isnull=True)
    total = wanted.count()
    pages = max(1, ceil(total / A_PAGE))
    number = min(max(1, page), pages)
    ordered = _with_lanes(wanted).order_by(F("closed_at").desc(nulls_first=True), "-opened_at", "-pk")
    rows = ordered[(number - 1) * A_PAGE : number * A_PAGE]
    return IncidentList(tuple(_row(each) for each in rows), still_open, total, number, pages)


def incident_page(incident: Incident, now: datetime) -> IncidentPage:
    """Return one incident, with what it touches: at most ten queries, however many lanes."""
    row = _with_lanes(Incident.objects.filter(pk=incident.pk)).get()
    parts = _parts(row)
    begins, ends = _range(row, now)
    lanes = [part.lane for part in parts]
    return IncidentPage(
        row=_row(row),
        lanes=tuple(_touched(part) for part in parts),
        lanes_total=row.lanes_total,  # type: ignore[attr-defined]
        failed_runs=_failed_runs(row),
        entries=_entries(row),
        spans=spans(lanes[:SPANS_SHOWN], begins, ends),
        begins=begins,
        ends=ends,
        key=_key(row),
        hosts=tuple(
            Host.objects.filter(recipes__profile__in={lane.profile_id for lane in lanes})
            .distinct()
            .order_by("name")
            .values_list("code", "name")
        ),
        children=tuple(_row(each) for each in _with_lanes(row.children.all())[:CHILDREN_SHOWN]),
    )


def open_incidents(team: Team) -> OpenIncidents:
    """Return how many incidents are open that nothing else explains, and the worst state of them: one
    query."""
    states = Incident.objects.filter(team=team, closed_at__isnull=True, parent__isnull=True)
    return open_of(states.values_list("worst", flat=True))


def marks_by_lane(team: Team) -> dict[int, IncidentMark]:
    """Return the open incident of each lane that is in one: one query."""
    parts = IncidentLane.objects.filter(
        incident__team=team, incident__closed_at__isnull=True, recovered_at__isnull=True
    )
    found: dict[int, IncidentMark] = {}
    marks: dict[int, IncidentMark] = {}
    for part in parts.select_related("incident__taken_by"):
        incident, taken_by = part.incident, part.incident.taken_by
        mark = marks.setdefault(
            incident.number,
            IncidentMark(
                incident.number, incident.opened_at, str(taken_by) if taken_by else "",
                taken_by.initials if taken_by else "", incident.muted_until,
            ),
        )  # fmt: skip
        found[part.lane_id] = mark
    return found


def _with_lanes(incidents: QuerySet[Incident]) -> QuerySet[Incident]:
    broken = Count("lanes", filter=Q(lanes__recovered_at__isnull=True))
    return incidents.select_related("endpoint", "host", "taken_by", "parent").annotate(
        lanes_total=Count("lanes"), lanes_broken=broken
    )


def _row(incident: Incident) -> IncidentRow:
    endpoint, host, taken_by = incident.endpoint, incident.host, incident.taken_by
    parent = incident.parent if incident.closed_at is None else None
    counted = "lanes_total" if incident.closed_at else "lanes_broken"
    return IncidentRow(
        number=incident.number,
        state=incident.worst,
        reason=incident.reason,
        rung=incident.rung,
        endpoint_code=endpoint.code if endpoint else "",
        endpoint_name=endpoint.name if endpoint else "",
        host_code=host.code if host else "",
        host_name=host.name if host else "",
        key_number=incident.key_number,
        lanes=getattr(incident, counted),
        opened_at=incident.opened_at,
        closed_at=incident.closed_at,
        taken_by=str(taken_by) if taken_by else "",
        taken_initials=taken_by.initials if taken_by else "",
        taken_at=incident.taken_at,
        muted_until=incident.muted_until,
        parent=parent.number if parent and parent.closed_at is None else None,
    )


def _parts(incident: Incident) -> list[IncidentLane]:
    parts = incident.lanes.select_related(
        "lane__profile__recipe__host", "lane__check_order", "lane__now", "run"
    )
    return list(parts.order_by(F("recovered_at").desc(nulls_first=True), "joined_at", "pk")[:LANES_SHOWN])


def _touched(part: IncidentLane) -> TouchedLane:
    profile = part.lane.profile
    return TouchedLane(
        profile_code=profile.code,
        profile_name=profile.name,
        environment=profile.environment,
        kind=part.lane.kind,
        generation=profile.generation,
        state=part.state,
        reason=part.reason,
        joined_at=part.joined_at,
        recovered_at=part.recovered_at,
        run_code=part.run.code if part.run else "",
    )


def _range(incident: Incident, now: datetime) -> tuple[datetime, datetime]:
    last = incident.closed_at or max(now, incident.opened_at)
    margin = max(LEAST_MARGIN, (last - incident.opened_at) / 4)
    return incident.opened_at - margin, min(now, last + margin) if incident.closed_at else last


def _failed_runs(incident: Incident) -> int:
    part = "check_order__lane__incidents"
    until = Q(**{f"{part}__recovered_at__isnull": True}) | Q(finished_at__lte=F(f"{part}__recovered_at"))
    runs = Run.objects.filter(
        until, status="down", finished_at__gte=F(f"{part}__joined_at"), **{part + "__incident": incident}
    )
    return runs.count()


def _entries(incident: Incident) -> tuple[EntryView, ...]:
    rows = incident.entries.select_related("author").order_by("-at", "-pk")[:ENTRIES_SHOWN]
    return tuple(
        EntryView(
            entry.at, entry.kind, str(entry.author) if entry.author else "",
            entry.author.initials if entry.author else "", entry.text, entry.say,
        )
        for entry in rows
    )  # fmt: skip


def _key(incident: Incident) -> KeyView | None:
    number = incident.key_number
    if not number:
        return None
    key = KeyVersion.objects.filter(endpoint=incident.endpoint_id, number=number).first()
    return KeyView(number, key.last_four, key.state, key.expires_at) if key else KeyView(number)
