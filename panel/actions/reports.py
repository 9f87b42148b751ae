"""What people do to reports: say who gets one, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction
from django.utils.translation import gettext as _

from panel import reports
from panel.actions import Refused
from panel.actions.audit import record
from panel.models import Channel, Membership, ReportSchedule

MOST_SCHEDULES = 20


@dataclass(frozen=True, slots=True)
class ScheduleDraft:
    """What a form says of a schedule (`panel.models.ReportSchedule`); `channels` are codes of the team's."""

    period: str = "week"
    hour: int = 8
    weekday: int = 0
    day: int = 1
    zone: str = "UTC"
    channels: Sequence[str] = ()


@transaction.atomic
def save_schedule(
    *, actor: Membership, draft: ScheduleDraft, schedule: ReportSchedule | None = None
) -> ReportSchedule:
    """Make a schedule or change one; it is due next at its first time from now on.

    Raises Refused when the team has many already.
    """
    if schedule is None and ReportSchedule.objects.filter(team=actor.team).count() >= MOST_SCHEDULES:
        raise Refused(_("A team has at most %(n)d schedules. Change one of them.") % {"n": MOST_SCHEDULES})
    row = schedule or ReportSchedule(team=actor.team)
    for name in ("period", "hour", "weekday", "day", "zone"):
        setattr(row, name, getattr(draft, name))
    row.next_at = reports.due_after(row, datetime.now(UTC))
    row.save()
    channels = list(Channel.objects.filter(team=actor.team, code__in=draft.channels))
    row.channels.set(channels)
    record(
        team=actor.team, actor=actor.user, verb="change" if schedule else "create", noun="report_schedule",
        code=row.code, label=row.get_period_display(), zone=row.zone, hour=row.hour,
        channels=sorted(channel.name for channel in channels),
    )  # fmt: skip
    return row


@transaction.atomic
def delete_schedule(*, actor: Membership, schedule: ReportSchedule) -> None:
    """Let no more reports come of it; those that it made are kept."""
    record(
        team=actor.team, actor=actor.user, verb="delete", noun="report_schedule", code=schedule.code,
        label=schedule.get_period_display(),
    )  # fmt: skip
    schedule.delete()
