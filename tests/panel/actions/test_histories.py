"""The past as lines: complete, bounded, safe in a spreadsheet, and on record."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta

import pytest

from panel import history
from panel.actions import histories
from panel.history import Form, Rows
from panel.history import export as module
from panel.models import AuditEvent, Check, Membership
from tests import make
from tests.panel.time.outcomes import live

pytestmark = pytest.mark.django_db
NOON = make.NOON
SINCE, UNTIL = NOON - timedelta(days=1), NOON + timedelta(days=1)


def asked(check: Check, rows: Rows, form: Form, **more) -> str:
    team = check.lane.profile.team
    return "".join(history.lines(team, rows, form, SINCE, UNTIL, **more))


def lines_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def test_every_run_is_a_line_oldest_first() -> None:
    check = make.check()
    runs = live(check, "odgn")
    lines = [json.loads(line) for line in asked(check, Rows.RUNS, Form.JSONL).splitlines()]
    assert [line["code"] for line in lines] == [run.code for run in runs]
    assert [line["status"] for line in lines] == ["ok", "down", "degraded", "not_testable"]
    assert (lines[1]["reason"], lines[1]["slot"]) == ("auth_invalid_key", "2026-11-30T12:01:00+00:00")


@pytest.mark.parametrize("rows", list(Rows))
def test_the_head_of_a_table_is_its_columns_and_json_has_the_same(rows: Rows) -> None:
    check = make.check()
    live(check, "od")
    head = asked(check, rows, Form.CSV).removeprefix("\ufeff").splitlines()[0]
    assert head == ",".join(history.columns(rows))
    assert tuple(json.loads(asked(check, rows, Form.JSONL).splitlines()[0])) == history.columns(rows)


def test_hours_and_days_carry_counts_and_percentiles() -> None:
    check = make.check()
    live(check, "ood")
    (hour,) = lines_of(asked(check, Rows.HOURS, Form.CSV))
    (day,) = lines_of(asked(check, Rows.DAYS, Form.CSV))
    assert [(line["ok"], line["down"], line["p95_ms"]) for line in (hour, day)] == [("2", "1", "87")] * 2
    assert json.loads(day["reasons"]) == {"auth_invalid_key": 1}


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_a_name_cannot_become_a_formula(name: str) -> None:
    check = make.check()
    check.lane.profile.name = name
    check.lane.profile.save()
    live(check, "o")
    assert lines_of(asked(check, Rows.RUNS, Form.CSV))[0]["profile_name"] == f"'{name}"


def test_windows_join_without_loss_or_repetition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WINDOW", 3)
    check = make.check()
    runs = live(check, "o" * 7)
    lines = lines_of(asked(check, Rows.RUNS, Form.CSV))
    assert [line["code"] for line in lines] == [run.code for run in runs]


def test_a_lane_and_a_profile_narrow_it_down_and_another_team_is_never_in_it() -> None:
    team = make.team()
    first, second = make.check(team), make.check(team, kind="rollout")
    for check in (first, second, make.check()):
        live(check, "o")
    assert len(lines_of(asked(first, Rows.RUNS, Form.CSV))) == 2
    assert len(lines_of(asked(first, Rows.RUNS, Form.CSV, kind="rollout"))) == 1
    assert len(lines_of(asked(first, Rows.DAYS, Form.CSV, profile=first.lane.profile.code))) == 1


def test_taking_history_away_is_on_record_before_the_first_line() -> None:
    member: Membership = make.member()
    histories.export(actor=member, rows=Rows.RUNS, form=Form.CSV, since=SINCE, until=UNTIL)
    event = AuditEvent.objects.get()
    assert (event.verb, event.noun, event.data["rows"], event.actor) == (
        "export",
        "history",
        "runs",
        member.user,
    )
