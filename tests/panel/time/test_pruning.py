"""What goes when it is old, and what stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from panel import ledger
from panel.ledger import pruning
from panel.ledger.pruning import DAYS_KEPT
from panel.models import LaneHour, LaneState, Run, RunSteps, Transition
from tests import make
from tests.panel.time.outcomes import live

pytestmark = pytest.mark.django_db
NOW = make.NOON
DAY = timedelta(days=1)


def test_runs_go_after_the_days_that_their_team_keeps_them() -> None:
    for keeps, left in ((30, 3), (7, 1), (365, 4)):
        check = make.check(make.team(runs_days=keeps))
        for days in (40, 20, 8, 2):
            live(check, "o", start=NOW - days * DAY)
        ledger.prune(NOW)
        assert check.runs.count() == left


def test_kept_steps_go_with_their_run() -> None:
    live(make.check(), "d", start=NOW - 40 * DAY)
    ledger.prune(NOW)
    assert not RunSteps.objects.exists()


def test_a_lane_and_its_history_outlive_their_pruned_runs() -> None:
    check = make.check()
    live(check, "o", start=NOW - 40 * DAY)
    ledger.prune(NOW)
    state = LaneState.objects.get(lane=check.lane)
    assert (state.state, state.last_run, state.last_pass) == ("ok", None, None)
    assert (LaneHour.objects.count(), Transition.objects.get().run) == (1, None)


def test_hours_go_after_the_days_that_their_team_keeps_them() -> None:
    for keeps, left in ((400, 2), (14, 1)):
        check = make.check(make.team(hours_days=keeps))
        for days in (20, 2):
            live(check, "o", start=NOW - days * DAY)
        ledger.prune(NOW)
        assert check.lane.hours.count() == left


def test_days_are_kept_for_years() -> None:
    check = make.check()
    for days in (DAYS_KEPT + 2, 800):
        live(check, "o", start=NOW - days * DAY)
    ledger.prune(NOW)
    assert check.lane.days.count() == 1


def test_hours_and_transitions_go_after_more_than_a_year() -> None:
    check = make.check()
    live(check, "odd", start=NOW - 401 * DAY)
    live(check, "o", start=NOW - 399 * DAY)
    ledger.prune(NOW)
    assert LaneHour.objects.count() == 1
    assert Transition.objects.count() == 1


@pytest.mark.parametrize("runs", [0, 1])
def test_pruning_an_empty_or_young_table_changes_nothing(runs: int) -> None:
    check = make.check()
    live(check, "o" * runs, start=NOW)
    ledger.prune(NOW + timedelta(minutes=5))
    assert Run.objects.count() == runs


def test_pruning_costs_what_it_deletes_and_not_the_length_of_the_history(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pruning, "BITE", 1000)
    check = make.check()
    Run.objects.bulk_create(
        Run(check_order=check, slot=NOW - timedelta(minutes=minute), state="missed")
        for minute in range(3000, 0, -1)
    )
    ledger.prune(NOW)
    with CaptureQueriesContext(connection) as young:
        ledger.prune(NOW)
    assert Run.objects.count() == 3000
    with CaptureQueriesContext(connection) as old:
        ledger.prune(NOW + 60 * DAY)
    assert not Run.objects.exists()
    assert len(young) < 15
    assert len(old) < 150


def test_one_call_deletes_so_much_and_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "BITE", 2)
    monkeypatch.setattr(pruning, "BITES", 2)
    check = make.check()
    live(check, "o" * 7, start=NOW - 40 * DAY)
    ledger.prune(NOW)
    assert Run.objects.count() == 3
    ledger.prune(NOW)
    assert not Run.objects.exists()
