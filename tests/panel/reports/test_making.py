"""Reports are made once, whoever dies on the way, and sent once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from panel import notices, reports
from panel.models import Notice, Report, ReportSchedule
from panel.reports import making
from tests import make
from tests.panel.reports.scene import MORNING, NEXT_MONDAY, channel, scene

pytestmark = pytest.mark.django_db


def due_schedule(**fields: object) -> ReportSchedule:
    """A weekly schedule with one channel that is due on Monday at eight."""
    team = fields.pop("team", None) or scene().team
    row = make.report_schedule(team, **({"next_at": MORNING} | fields))  # type: ignore[arg-type]
    row.channels.add(channel(row.team))
    return row


def test_a_due_schedule_makes_the_report_of_the_last_whole_week_and_plans_its_sending():
    row = due_schedule()
    reports.make_due(MORNING)
    report = Report.objects.get()
    assert (report.begins, report.ends) == (NEXT_MONDAY - timedelta(days=7), NEXT_MONDAY)
    assert Notice.objects.get().kind == Notice.Kind.REPORT
    row.refresh_from_db()
    assert row.next_at == MORNING + timedelta(days=7)


def test_nothing_is_made_before_its_time():
    due_schedule()
    assert not reports.is_due(MORNING - timedelta(seconds=1))
    reports.make_due(MORNING - timedelta(seconds=1))
    assert not Report.objects.exists()


def test_a_report_is_made_and_planned_once_however_often_it_is_rung_for():
    due_schedule()
    for _ in range(3):
        reports.make_due(MORNING)
        ReportSchedule.objects.update(next_at=MORNING)
    assert (Report.objects.count(), Notice.objects.count()) == (1, 1)


def test_a_schedule_slept_through_makes_the_newest_period_alone():
    due_schedule()
    late = MORNING + timedelta(days=25)
    reports.make_due(late)
    assert Report.objects.get().ends == NEXT_MONDAY + timedelta(days=21)
    assert ReportSchedule.objects.get().next_at == MORNING + timedelta(days=28)


def test_two_schedules_of_one_period_share_its_report_and_each_tells_its_channels():
    first = due_schedule()
    second = make.report_schedule(first.team, next_at=MORNING + timedelta(hours=1), hour=9)
    second.channels.add(channel(first.team, "board"))
    reports.make_due(MORNING)
    reports.make_due(MORNING + timedelta(hours=1))
    assert Report.objects.count() == 1
    assert {notice.channel.name for notice in Notice.objects.all()} == {"ops", "board"}


def test_a_channel_that_is_out_of_use_gets_none():
    row = due_schedule()
    row.channels.update(enabled=False)
    reports.make_due(MORNING)
    assert Report.objects.exists()
    assert not Notice.objects.exists()


def test_a_worker_that_dies_while_planning_leaves_nothing_and_the_next_one_makes_all(
    monkeypatch: pytest.MonkeyPatch,
):
    due_schedule()

    def dies(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(notices, "plan_report", dies)
        with pytest.raises(SystemExit):
            reports.make_due(MORNING)
    assert not Report.objects.exists()
    assert reports.is_due(MORNING)
    reports.make_due(MORNING)
    assert (Report.objects.count(), Notice.objects.count()) == (1, 1)


def test_a_report_that_cannot_be_made_keeps_no_other_from_being_made(monkeypatch: pytest.MonkeyPatch):
    broken, sound = due_schedule(next_at=MORNING - timedelta(hours=1)), make.report_schedule(next_at=MORNING)
    usual = making.make_body

    def odd(team: object, *rest: object) -> object:
        if team == broken.team:
            raise ValueError
        return usual(team, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(making, "make_body", odd)
    with pytest.raises(ExceptionGroup):
        reports.make_due(MORNING)
    assert Report.objects.get().team == sound.team


def test_a_clock_that_is_set_back_makes_no_report_twice():
    due_schedule()
    reports.make_due(MORNING)
    reports.make_due(MORNING - timedelta(hours=1))
    reports.make_due(MORNING + timedelta(seconds=1))
    assert (Report.objects.count(), Notice.objects.count()) == (1, 1)


def test_a_day_of_a_clock_change_is_reported_whole():
    row = due_schedule(period="day", zone="Europe/Berlin", next_at=datetime(2026, 10, 26, 7, tzinfo=UTC))
    assert row.next_at is not None
    reports.make_due(row.next_at)
    report = Report.objects.get()
    assert report.ends - report.begins == timedelta(hours=25)


def test_a_preview_is_not_kept():
    report = reports.preview(scene().team, "day", "UTC", MORNING)
    assert report.code == ""
    assert not Report.objects.exists()
    assert reports.body_of(report).is_under_way
