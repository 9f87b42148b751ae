"""What goes when it is old, and what stays."""

from __future__ import annotations

from datetime import timedelta

import pytest

from panel import ledger
from panel.models import LaneHour, LaneState, Run, RunSteps, Transition
from tests import make
from tests.panel.time.outcomes import live

pytestmark = pytest.mark.django_db
NOW = make.NOON
DAY = timedelta(days=1)


def test_passes_go_after_a_week_and_failures_after_a_month() -> None:
    check = make.check()
    for days in (40, 20, 8, 2):
        live(check, "od", start=NOW - days * DAY)
    ledger.prune(NOW)
    left = Run.objects.order_by("slot").values_list("status", flat=True)
    assert list(left) == ["down", "down", "ok", "down"]


def test_kept_steps_go_with_their_run() -> None:
    live(make.check(), "d", start=NOW - 40 * DAY)
    ledger.prune(NOW)
    assert not RunSteps.objects.exists()


def test_what_a_person_asked_for_stays_as_long_as_a_failure() -> None:
    run = make.run(make.check(), NOW - 20 * DAY, trigger="person", state="done", status="ok")
    ledger.prune(NOW)
    assert Run.objects.get() == run


def test_a_lane_and_its_history_outlive_their_pruned_runs() -> None:
    check = make.check()
    live(check, "o", start=NOW - 40 * DAY)
    ledger.prune(NOW)
    state = LaneState.objects.get(lane=check.lane)
    assert (state.state, state.last_run, state.last_pass) == ("ok", None, None)
    assert (LaneHour.objects.count(), Transition.objects.get().run) == (1, None)


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


def test_the_boundary_is_found_without_walking_the_table(django_assert_max_num_queries) -> None:
    check = make.check()
    Run.objects.bulk_create(
        Run(check_order=check, slot=NOW - timedelta(minutes=minute), state="missed")
        for minute in range(3000, 0, -1)
    )
    with django_assert_max_num_queries(40):
        ledger.prune(NOW)
