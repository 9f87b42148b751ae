"""Who is to be told of what, and when: writes notices, in the caller's transaction, each at most once.

Nothing is judged here that can change until the time to tell comes: whether somebody took the incident,
muted it, or it is over, is looked at again when the notice is sent (`panel.notices.judging`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.conf import settings

from panel.models import Channel, Incident, IncidentLane, KeyVersion, Notice, Report, Route, Team
from panel.notices import facts

FLAPPING_HOLD: Final = timedelta(minutes=10)
KEY_DAYS: Final = (1, 7, 14, 30)
WORKING_FROM, WORKING_TO = time(9), time(18)
CHANGES: Final = (Notice.Kind.OPENED, Notice.Kind.CHANGED)


def plan(incident: Incident, kind: str, at: datetime) -> None:
    """Plan the notices on one change of an incident, by the team's routes: "opened", "changed" or
    "recovered". Escalations are planned with the opening, for later. Asked twice it changes nothing."""
    due = _told_before(incident, at) if kind == Notice.Kind.RECOVERED else _by_routes(incident, kind, at)
    if not due:
        return
    said = facts.of_incident(incident, at)
    if kind == Notice.Kind.CHANGED:
        waiting = _told_with_what_waits(incident, said)
        due = [line for line in due if line[0] not in waiting or line[1] != kind]
    number = 0 if kind == Notice.Kind.OPENED else int(at.timestamp() * 1000)
    _write(
        _notice(
            channel, of_kind, f"incident:{incident.pk}:{of_kind}:{tail or number}", when, at, said | more,
            incident,
        )
        for channel, of_kind, tail, when, more in due
    )  # fmt: skip


def plan_report(report: Report, channels: Iterable[Channel], at: datetime) -> None:
    """Plan a report to each of the channels."""
    said = {"report": report.pk, "code": report.code, "period": report.period}
    _write(
        _notice(channel.pk, Notice.Kind.REPORT, f"report:{report.pk}", at, at, said)
        for channel in channels
        if channel.enabled
    )


def plan_watchdog(key: str, said: dict[str, Any], at: datetime) -> None:
    """Plan, to every channel of every team that is told at once of anything, what Preflight has to say of
    itself: `said["what"]` is "silent" or "back", `said["since"]` an ISO time. `key` names the occasion."""
    for team in Team.objects.all():
        _write(
            _notice(pk, Notice.Kind.WATCHDOG, f"watchdog:{key}", at, at, said) for pk in _told_at_once(team)
        )


def plan_test(channel: Channel, at: datetime, asked_by: int) -> Notice:
    """Plan a test message and return it."""
    notice = _notice(channel.pk, Notice.Kind.TEST, "", at, at, {})
    notice.key, notice.asked_by_id = f"test:{notice.code}", asked_by
    notice.save()
    return notice


def plan_keys(at: datetime) -> None:
    """Plan a reminder of each key that expires within 30, 14, 7 or 1 days, once for each of these; it is told
    in working hours of the instance's zone."""
    soon = KeyVersion.objects.filter(
        state=KeyVersion.State.ACTIVE, expires_at__gt=at, expires_at__lte=at + timedelta(days=max(KEY_DAYS))
    ).select_related("endpoint__team")
    for key in soon:
        if key.expires_at is None:
            continue
        days = next(days for days in KEY_DAYS if key.expires_at <= at + timedelta(days=days))
        said = {
            "endpoint": key.endpoint.name,
            "number": key.number,
            "days": days,
            "expires_at": key.expires_at.isoformat(),
            "code": key.endpoint.code,
        }
        when = _in_working_hours(at)
        channels = _told_at_once(key.endpoint.team)
        _write(_notice(pk, Notice.Kind.KEYS, f"keys:{key.pk}:{days}", when, at, said) for pk in channels)


def after_quiet(route: Route, state: str, due: datetime) -> datetime:
    """Return when the route lets through what is due at `due`: then, or when its quiet is over."""
    if route.quiet_from is None or route.quiet_to is None or (state == "down" and not route.quiet_all):
        return due
    return _end_of(due, route.quiet_from, route.quiet_to, ZoneInfo(route.zone))


_Due = tuple[int, str, str, datetime, dict[str, Any]]


def _by_routes(incident: Incident, kind: str, at: datetime) -> list[_Due]:
    """One line a channel and kind; of several routes to one channel the earliest counts."""
    lanes = IncidentLane.objects.filter(incident=incident)
    places = set(lanes.values_list("lane__profile__environment", flat=True))
    held = at + FLAPPING_HOLD if kind == Notice.Kind.OPENED and _flapping(incident) else at
    found: dict[tuple[int, str], _Due] = {}
    for route in Route.objects.filter(team=incident.team_id, channel__enabled=True):
        if not _matches(route, incident.worst, places) or (kind not in CHANGES and not route.after_min):
            continue
        line = _line(route, incident, kind, held)
        known = found.get(line[:2])
        if known is None or line[3] < known[3]:
            found[line[:2]] = line
    return list(found.values())


def _line(route: Route, incident: Incident, kind: str, due: datetime) -> _Due:
    if not route.after_min:
        return route.channel_id, kind, "", after_quiet(route, incident.worst, due), {}
    late = max(due, incident.opened_at + timedelta(minutes=route.after_min))
    when = after_quiet(route, incident.worst, late)
    return (
        route.channel_id,
        Notice.Kind.ESCALATED,
        f"{route.after_min}m",
        when,
        {"after_min": route.after_min},
    )


def _told_with_what_waits(incident: Incident, said: dict[str, Any]) -> set[int]:
    """Let the notices of the incident that still wait say how it is now; return the channels that hear of the
    change so. A burst of changes is then one message."""
    waiting = Notice.objects.filter(incident=incident, state=Notice.State.QUEUED, attempts=0)
    told = set()
    for notice in waiting.filter(kind__in=(*CHANGES, Notice.Kind.ESCALATED)):
        fresh = said | {name: notice.data[name] for name in ("after_min",) if name in notice.data}
        if waiting.filter(pk=notice.pk).update(data=fresh) and notice.kind in CHANGES:
            told.add(notice.channel_id)
    return told


def _told_before(incident: Incident, at: datetime) -> list[_Due]:
    """A recovery goes where the incident went."""
    earlier = Notice.objects.filter(incident=incident, channel__enabled=True).exclude(
        state=Notice.State.DROPPED
    )
    channels = sorted(set(earlier.values_list("channel_id", flat=True)))
    return [(pk, Notice.Kind.RECOVERED, "", at, {}) for pk in channels]


def _matches(route: Route, state: str, environments: set[str]) -> bool:
    of_state = not route.states or state in route.states
    return of_state and (not route.environments or not environments.isdisjoint(route.environments))


def _flapping(incident: Incident) -> bool:
    states = set(
        IncidentLane.objects.filter(incident=incident, recovered_at__isnull=True).values_list(
            "lane__now__flapping", flat=True
        )
    )
    return states == {True}


def _told_at_once(team: Team) -> list[int]:
    """The channels that some route reaches without waiting."""
    routes = Route.objects.filter(team=team, after_min=0, channel__enabled=True)
    return sorted(set(routes.values_list("channel_id", flat=True)))


def _notice(
    channel: int,
    kind: str,
    key: str,
    due: datetime,
    at: datetime,
    said: dict[str, Any],
    incident: Incident | None = None,
) -> Notice:
    return Notice(
        channel_id=channel, kind=kind, key=f"{key}:channel:{channel}", data=said, made_at=at, due_at=due,
        incident=incident,
    )  # fmt: skip


def _write(notices: Iterable[Notice]) -> None:
    Notice.objects.bulk_create(notices, ignore_conflicts=True)


def _in_working_hours(at: datetime) -> datetime:
    zone = ZoneInfo(settings.DISPLAY_ZONE)
    return _end_of(at, WORKING_TO, WORKING_FROM, zone)


def _end_of(at: datetime, begins: time, ends: time, zone: ZoneInfo) -> datetime:
    """Return `at`, or where it lies between two times of day the next time that it ends."""
    local = at.astimezone(zone)
    clock = local.time()
    inside = begins <= clock < ends if begins <= ends else clock >= begins or clock < ends
    if not inside:
        return at
    day = local.date() + timedelta(days=1 if clock >= ends else 0)
    return datetime.combine(day, ends, zone).astimezone(at.tzinfo)
