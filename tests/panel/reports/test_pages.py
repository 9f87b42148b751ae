"""The pages of reports: archive, report, files, preview, and schedules."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from panel import notices
from panel.models import AuditEvent, Report, ReportSchedule, Role
from tests import make
from tests.panel.reports.scene import MORNING, NEXT_MONDAY, Scene, channel, scene

pytestmark = pytest.mark.django_db
WEEKLY = {"period": "week", "hour": "8", "weekday": "4", "day": "1", "zone": "Asia/Shanghai"}


def page(here: Scene, name: str, *args: str, role: Role | None = None, **query: str) -> str:
    """What the lead, or another role of the team, sees at an address."""
    person = make.member(here.team, role) if role else here.lead
    client = Client()
    client.force_login(person.user)
    answer = client.get(reverse(name, args=[here.team.slug, *args]), query)
    assert answer.status_code == 200
    return answer.text


def post(here: Scene, name: str, *args: str, **data: object) -> int:
    """Send a form as the lead."""
    client = Client()
    client.force_login(here.lead.user)
    return client.post(reverse(name, args=[here.team.slug, *args]), data).status_code


def test_the_archive_lists_what_was_made_and_what_comes_next():
    here = scene()
    make.report(here.team, MORNING)
    make.report_schedule(here.team, next_at=MORNING)
    text = page(here, "reports", role=Role.VIEWER)
    assert "Week 48" in text
    assert "58 min" in text
    assert "weekly, on Monday at 08:00" in text


def test_the_archive_reads_no_body():
    here = scene()
    report = make.report(here.team, MORNING)
    Report.objects.filter(pk=report.pk).update(body=report.body | {"lanes": "unreadable"})
    assert "Week 48" in page(here, "reports")


def test_a_report_names_its_week_its_outage_and_who_took_it():
    here = scene()
    text = page(here, "report", make.report(here.team, MORNING).code, role=Role.VIEWER)
    assert "<h1>Week 48: one outage of 58 min, and one lane was slow for a time</h1>" in text
    assert "23 to 29 Nov 2026" in text
    assert "Lin Yue took it." in text


@pytest.mark.parametrize(
    ("name", "kind"),
    [("report_csv", "text/csv"), ("report_json", "application/json"), ("report_markdown", "text/markdown")],
)
def test_a_report_is_handed_out_as_a_file(name: str, kind: str):
    here = scene()
    client = Client()
    client.force_login(here.lead.user)
    answer = client.get(reverse(name, args=[here.team.slug, make.report(here.team, MORNING).code]))
    assert answer.headers["Content-Type"].startswith(kind)
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="atlas-week-2026-11-23.')


@pytest.mark.parametrize("period", ["day", "week", "month", "century"])
def test_a_preview_shows_the_period_so_far_and_keeps_nothing(period: str):
    assert "so far; not kept" in page(scene(), "report_preview", period=period, zone="Asia/Shanghai")
    assert not Report.objects.exists()


def test_a_lead_schedules_a_report_to_a_channel_of_the_team_alone():
    here = scene()
    own, foreign = channel(here.team), channel(make.team(), "theirs")
    assert post(here, "report_schedules", **WEEKLY, channels=[own.code]) == 302
    row = ReportSchedule.objects.get()
    assert (row.weekday, row.zone, list(row.channels.all())) == (4, "Asia/Shanghai", [own])
    assert post(here, "report_schedules", **WEEKLY, channels=[foreign.code]) == 200
    assert AuditEvent.objects.get(noun="report_schedule").data["channels"] == ["ops"]


def test_a_changed_schedule_is_due_at_its_new_time():
    here = scene()
    row = make.report_schedule(here.team, next_at=NEXT_MONDAY)
    assert post(here, "report_schedule", row.code, **(WEEKLY | {"period": "day", "zone": "UTC"})) == 302
    row.refresh_from_db()
    assert row.next_at is not None
    assert (row.next_at.hour, row.next_at.minute) == (8, 0)


@pytest.mark.parametrize("wrong", [{"hour": "24"}, {"day": "0"}, {"zone": "Mars/Olympus"}, {"weekday": "7"}])
def test_a_schedule_that_makes_no_sense_is_refused(wrong: dict[str, str]):
    assert post(scene(), "report_schedules", **(WEEKLY | wrong)) == 200
    assert not ReportSchedule.objects.exists()


def test_a_deleted_schedule_leaves_its_reports():
    here = scene()
    row = make.report_schedule(here.team)
    report = make.report(here.team, MORNING)
    Report.objects.update(schedule=row)
    assert post(here, "report_schedule_delete", row.code) == 302
    report.refresh_from_db()
    assert report.schedule is None


def test_a_team_has_only_so_many_schedules():
    here = scene()
    for _ in range(20):
        make.report_schedule(here.team)
    assert post(here, "report_schedules", **WEEKLY) == 200
    assert ReportSchedule.objects.count() == 20


def test_a_report_says_whom_it_was_sent_to():
    here = scene()
    report = make.report(here.team, MORNING)
    notices.plan_report(report, [channel(here.team)], MORNING)
    assert "ops: queued" in page(here, "report", report.code)
