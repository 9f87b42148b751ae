"""The demo: a team that is alive on the first page, fed by servers that exist."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from checks.simulator.__main__ import parser
from panel import history, reports, schedule
from panel.management.demo_team import SERVERS, make_team, read_or_make_plan
from panel.models import Report, ReportSchedule, Run, Team

NOW = datetime(2026, 11, 30, 14, 25, tzinfo=UTC)


def test_the_simulator_takes_every_server_of_the_demo(tmp_path: Path) -> None:
    plan = read_or_make_plan(tmp_path)
    asked = parser().parse_args(plan.listen_arguments())
    assert [one.port for one in asked.listen] == list(plan.ports)
    assert len(asked.listen) == len(SERVERS)


def test_a_restart_finds_the_same_ports_and_key_in_a_file_of_its_owner(tmp_path: Path) -> None:
    assert read_or_make_plan(tmp_path) == read_or_make_plan(tmp_path)
    assert (tmp_path / "demo.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.django_db
def test_the_first_page_is_alive(tmp_path: Path) -> None:
    seen = history.overview(make_team(read_or_make_plan(tmp_path), "correct horse battery", NOW), NOW)
    assert {finding.reason for finding in seen.findings} >= {
        "auth_key_disabled_or_expired",
        "latency_over_limit",
        "base_url_missing_v1",
    }
    assert seen.counts["ok"] >= 7


@pytest.mark.django_db
def test_the_demo_team_is_made_once(tmp_path: Path) -> None:
    plan = read_or_make_plan(tmp_path)
    first = make_team(plan, "correct horse battery", NOW)
    runs = Run.objects.count()
    assert make_team(plan, "another password", NOW) == first
    assert (Team.objects.count(), Run.objects.count()) == (1, runs)


@pytest.mark.django_db
def test_a_report_of_the_last_whole_week_stands_in_the_archive(tmp_path: Path) -> None:
    team = make_team(read_or_make_plan(tmp_path), "correct horse battery", NOW)
    body = reports.body_of(Report.objects.get(team=team))
    assert (body.begins, body.evidence) == ("2026-11-23T00:00:00+00:00", 1.0)
    assert "quota_exhausted" in {broke.reason for broke in body.broke}
    assert ReportSchedule.objects.get(team=team).next_at > NOW


@pytest.mark.django_db
def test_nothing_of_the_played_past_counts_as_slept_through(tmp_path: Path) -> None:
    make_team(read_or_make_plan(tmp_path), "correct horse battery", NOW)
    schedule.claim_due(NOW + timedelta(seconds=59))
    assert not Run.objects.filter(state="missed").exists()
