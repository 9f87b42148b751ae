"""Makes the reports that are due, each exactly once, and plans their sending in the same transaction.

A worker that dies before the commit leaves the schedule due, one that dies after it the notices queued.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from panel import notices
from panel.models import Report, ReportSchedule, Team
from panel.reports.body import make_body
from panel.reports.periods import Due, Period, around, newest_complete
from panel.reports.shapes import to_json


def is_due(now: datetime) -> bool:
    """Tell whether `make_due` has anything to do."""
    return ReportSchedule.objects.filter(next_at__lte=now).exists()


def make_due(now: datetime) -> None:
    """Make the reports whose time has come. A schedule that was slept through makes its newest period alone.

    One that fails keeps none of the others from being made; what failed is raised at the end.
    """
    failed: list[Exception] = []
    due = ReportSchedule.objects.filter(next_at__lte=now).order_by("next_at").values_list("pk", flat=True)
    for schedule in list(due):
        try:
            _make_one(schedule, now)
        except Exception as error:  # noqa: BLE001 - raised below, with the others
            failed.append(error)
    if failed:
        raise ExceptionGroup("reports that could not be made", failed)


def preview(team: Team, kind: str, zone: str, now: datetime) -> Report:
    """Return the report of the period under way, so far. It is not kept and has no code."""
    return _report(team, around(kind, zone, now), now, code="")


def due_after(schedule: ReportSchedule, moment: datetime) -> datetime:
    """Return when the schedule is due next."""
    due = Due(schedule.period, schedule.zone, schedule.hour, schedule.weekday, schedule.day)
    return due.next_after(moment)


@transaction.atomic
def _make_one(pk: int, now: datetime) -> None:
    """Skip it while somebody else makes it, who holds its row (PostgreSQL) or the database (SQLite)."""
    rows = ReportSchedule.objects.select_for_update(skip_locked=True, of=("self",)).select_related("team")
    schedule = rows.filter(pk=pk, next_at__lte=now).first()
    if schedule is None:
        return
    period = newest_complete(schedule.period, schedule.zone, now)
    report = _kept(schedule, period, now)
    notices.plan_report(report, list(schedule.channels.filter(enabled=True)), now)
    ReportSchedule.objects.filter(pk=pk).update(next_at=due_after(schedule, now))


def _kept(schedule: ReportSchedule, period: Period, now: datetime) -> Report:
    """Return the team's one report of the period, which another schedule may have made already."""
    same = {"team": schedule.team, "period": period.kind, "zone": period.zone, "begins": period.begins}
    found = Report.objects.filter(**same).first()
    if found is not None:
        return found
    made = _report(schedule.team, period, now, schedule=schedule)
    names = ("code", "schedule", "ends", "made_at", "body")
    report, _ = Report.objects.get_or_create(**same, defaults={name: getattr(made, name) for name in names})
    return report


def _report(team: Team, period: Period, now: datetime, **fields: object) -> Report:
    return Report(
        team=team, period=period.kind, zone=period.zone, begins=period.begins, ends=period.ends, made_at=now,
        body=to_json(make_body(team, period, now)), **fields,
    )  # fmt: skip
