"""What people say of planned work: when a team, profile, lane or host is in maintenance, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import available_timezones

from django.db import transaction
from django.utils.translation import gettext as _

from panel import maintenance, timetable
from panel.actions import Refused
from panel.actions.audit import record
from panel.models import Host, Lane, Maintenance, Membership, Profile

LONGEST = timedelta(days=366)
LEAST_DURATION_S, MOST_DURATION_S = 60, 7 * 86_400
LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class MaintenanceDraft:
    """What a form says of a maintenance: of one profile, lane or host, or of the team where all are None.

    `starts_at` is None for now. `cron` (in `zone`) makes it come again, for `duration_s` seconds each time;
    empty for once, from start to end.
    """

    reason: str
    ends_at: datetime
    starts_at: datetime | None = None
    profile: Profile | None = None
    lane: Lane | None = None
    host: Host | None = None
    cron: str = ""
    zone: str = "UTC"
    duration_s: int = 0


@transaction.atomic
def plan(*, actor: Membership, draft: MaintenanceDraft) -> Maintenance:
    """Say that failures are expected then; where that is now, it holds at once."""
    now = datetime.now(UTC)
    starts_at = draft.starts_at or now
    _judge(actor, draft, starts_at, now)
    row = Maintenance.objects.create(
        team=actor.team, profile=draft.profile, lane=draft.lane, host=draft.host, starts_at=starts_at,
        ends_at=draft.ends_at, cron=draft.cron, zone=draft.zone, reason=draft.reason.strip(),
        duration_s=draft.duration_s if draft.cron else 0, made_by=actor.user,
    )  # fmt: skip
    _record(
        actor, "plan", row, starts_at=starts_at.isoformat(), ends_at=row.ends_at.isoformat(), cron=row.cron
    )
    maintenance.keep(now)
    return row


@transaction.atomic
def end(*, actor: Membership, row: Maintenance) -> None:
    """End a maintenance, or take back one that has not begun; what has ended stays as it was."""
    now = datetime.now(UTC)
    if not Maintenance.objects.filter(pk=row.pk, ended_at=None, ends_at__gt=now).update(ended_at=now):
        return
    _record(actor, "end", row)
    maintenance.keep(now)


def _judge(actor: Membership, draft: MaintenanceDraft, starts_at: datetime, now: datetime) -> None:
    """Raises Refused for what no form lets through, and for rows of another team."""
    if not draft.reason.strip():
        raise Refused(_("Say why: whoever is on call reads it."), "reason")
    if len(draft.reason) > LONGEST_REASON:
        raise Refused(_("Say it in at most %(n)d characters.") % {"n": LONGEST_REASON}, "reason")
    if draft.ends_at <= max(starts_at, now):
        raise Refused(_("The end lies before the start, or has passed."), "ends_at")
    if draft.ends_at - starts_at > LONGEST:
        raise Refused(_("Plan at most a year. What lasts longer is paused."), "ends_at")
    named = [each for each in (draft.profile, draft.lane, draft.host) if each is not None]
    if len(named) > 1 or any(team != actor.team_id for team in _teams_of(draft)):
        raise Refused(_("There is no such thing in this team."), "scope")
    if draft.cron:
        _judge_cron(draft, starts_at)


def _teams_of(draft: MaintenanceDraft) -> Iterator[int]:
    if draft.profile is not None:
        yield draft.profile.team_id
    if draft.lane is not None:
        yield draft.lane.profile.team_id
    if draft.host is not None:
        yield draft.host.team_id


def _judge_cron(draft: MaintenanceDraft, starts_at: datetime) -> None:
    if draft.zone not in available_timezones():
        raise Refused(_("There is no such time zone."), "zone")
    try:
        first = next(timetable.cron_slots(draft.cron, draft.zone, starts_at - timedelta(seconds=1)), None)
    except timetable.CronRefused:
        raise Refused(_("This is no cron expression of five fields."), "cron") from None
    if first is None or first >= draft.ends_at:
        raise Refused(_("It would never begin before its end."), "cron")
    if not LEAST_DURATION_S <= draft.duration_s <= MOST_DURATION_S:
        raise Refused(_("Say how long it lasts each time: from a minute to a week."), "duration_min")


def _record(actor: Membership, verb: str, row: Maintenance, **data: object) -> None:
    record(
        team=actor.team, actor=actor.user, verb=verb, noun="maintenance", code=row.code, label=_label(row),
        reason=row.reason, **data,
    )  # fmt: skip


def _label(row: Maintenance) -> str:
    if row.lane is not None:
        return f"{row.lane.profile.name} {row.lane.kind}"
    named = row.profile or row.host or row.team
    return named.name
