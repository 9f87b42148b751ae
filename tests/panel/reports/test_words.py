"""Reports in words: mail, Markdown for chats, and files; in both languages."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from panel import reports
from panel.models import Lane, Profile, Report, Team
from panel.reports.words import MAIL_LANES
from panel.templatetags.reports import against_before
from tests import make
from tests.panel.reports.scene import HOSTILE, MORNING, scene

pytestmark = pytest.mark.django_db
SITE = "https://preflight.example"
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh-hans"])


def report_of(team: Team | None = None) -> Report:
    return make.report(team or scene().team, MORNING)


def crowded(profiles: int) -> Team:
    """A team with so many profiles, each with a long name and three lanes."""
    team = make.team(name="Atlas")
    relay = make.endpoint(team)
    for number in range(profiles):
        make.profile(team, name=f"训练项目-{number:04d}-" + "长" * 40, endpoint=relay)
    return team


def test_the_subject_is_the_headline_in_one_line():
    said = reports.subject(report_of(), language="en")
    assert said == "Atlas, Week 48: one outage of 58 min, and one lane was slow for a time"


@LANGUAGES
def test_a_mail_says_the_same_in_both_its_parts(language: str):
    report = report_of()
    mail = reports.mail(report, language=language, site=SITE)
    for part in (mail.html, mail.text):
        assert f"{SITE}/t/atlas/reports/{report.code}/" in part
        assert "grpo-prod" in part
        assert "126" in part
        assert "99.86" in part


def test_a_mail_needs_no_style_sheet_no_script_and_no_picture():
    html = reports.mail(report_of(), language="en", site=SITE).html
    assert not [tag for tag in ("<link", "<style", "<script", "<img", "class=") if tag in html]


def test_a_mail_of_many_lanes_stays_under_what_readers_show_at_once():
    mail = reports.mail(report_of(crowded(100)), language="zh-hans", site=SITE)
    assert len(mail.html.encode()) < 102_000
    assert str(300 - MAIL_LANES) in mail.text


@LANGUAGES
@pytest.mark.parametrize("most", [4000, 1500, 700])
def test_a_chat_message_fits_and_keeps_its_link(language: str, most: int):
    text = reports.chat(report_of(crowded(40)), language=language, site=SITE, most_bytes=most)
    assert len(text.encode()) <= most
    assert f"({SITE}/t/" in text


def test_a_chat_message_has_no_table_and_no_html():
    text = reports.chat(report_of(), language="en", site=SITE)
    assert "|" not in text
    assert "<" not in text


def test_where_nobody_said_the_address_nothing_is_linked():
    report = report_of()
    mail = reports.mail(report, language="en", site="")
    assert "/t/" not in mail.text + mail.html + reports.chat(report, language="en", site="")


def test_a_hostile_name_marks_nothing_up():
    here = scene()
    Profile.objects.filter(pk=here.profile.pk).update(name=HOSTILE)
    report = report_of(here.team)
    assert "<script>" not in reports.mail(report, language="en", site=SITE).html
    text = reports.markdown(report, language="en", site=SITE)
    assert "](http://evil" not in text
    assert "<script>" not in text


def test_a_csv_has_a_line_a_lane_and_no_formula():
    here = scene()
    Profile.objects.filter(pk=here.profile.pk).update(name=HOSTILE)
    rows = list(csv.DictReader(io.StringIO(reports.as_csv(report_of(here.team)))))
    assert len(rows) == 4
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]
    assert rows[0]["down_s"] in ("0", "3480")


def test_the_json_is_the_body_with_the_version_of_its_shape():
    report = report_of()
    said = json.loads(reports.as_json(report))
    assert (said["shape"], said["report"], said["incidents"]) == (1, report.code, 1)
    assert {lane["kind"] for lane in said["lanes"]} == {"agent", "replay"}


def test_a_report_stays_as_it_was_when_its_team_changes():
    here = scene()
    report = report_of(here.team)
    before = reports.mail(report, language="en", site=SITE).html
    Lane.objects.all().delete()
    report.refresh_from_db()
    assert reports.mail(report, language="en", site=SITE).html == before


def test_times_are_those_of_the_zone_of_the_report():
    report = make.report(scene().team, MORNING + timedelta(hours=1), kind="day", zone="Asia/Shanghai")
    assert "29 Nov 2026 · Asia/Shanghai" in reports.markdown(report, language="en", site=SITE)


@pytest.mark.parametrize(
    ("before", "said"),
    [(300, "—"), (312, "same"), (260, "same"), (900, "65\u2009% faster"), (104, "200\u2009% slower")],
)
def test_a_change_of_latency_is_said_where_it_is_more_than_a_bucket(before: int, said: str):
    lane = reports.body_of(report_of()).lanes[0]
    known = replace(lane, p95_ms=312, p95_before_ms=None if said == "—" else before)
    assert against_before(known) == said
