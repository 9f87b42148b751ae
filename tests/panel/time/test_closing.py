"""What one outcome leaves behind: run, state, hour, transition, steps; once, and only once."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from checks import Reason
from panel import ledger, rollups
from panel.models import LaneHour, Run, RunSteps, Transition
from tests import make
from tests.panel.time.outcomes import failed, live, passed, started, state_of

pytestmark = pytest.mark.django_db
NOON = make.NOON
LATER = NOON + timedelta(seconds=1)


def test_a_closed_run_carries_its_outcome() -> None:
    run = make.run(make.check())
    (mine,) = started([run], NOON)
    mine.key_number, mine.profile_version = 3, 8
    ledger.close_many([(mine, failed(mine, NOON))], LATER)
    run.refresh_from_db()
    assert (run.state, run.status, run.rung, run.reason) == ("done", "down", 2, "auth_invalid_key")
    assert (run.duration_ms, run.finished_at) == (40, NOON + timedelta(milliseconds=40))
    assert (run.key_number, run.profile_version, run.lease_until) == (3, 8, None)


def test_the_newest_evidence_is_the_lane_s_state() -> None:
    check = make.check()
    (run,) = live(check, "o")
    state = state_of(check)
    assert (state.state, state.status, state.last_run, state.last_pass) == ("ok", "ok", run, run)
    assert state.since == state.evidence_at == run.finished_at
    assert (state.latency_ms, state.recent, state.token_parameter) == (90, "o", "max_completion_tokens")
    assert state.passed == {"1": run.finished_at.isoformat(), "2": run.finished_at.isoformat()}


def test_a_failure_keeps_when_the_rungs_last_passed() -> None:
    check = make.check()
    first, second = live(check, "od")
    assert state_of(check).passed == {"1": second.finished_at.isoformat(), "2": first.finished_at.isoformat()}
    assert state_of(check).last_pass == first


def test_only_a_confirmed_change_leaves_a_transition() -> None:
    check = make.check()
    runs = live(check, "oddo")
    changes = Transition.objects.order_by("at").values_list("before", "after", "reason", "run")
    assert list(changes) == [
        ("unknown", "ok", "", runs[0].pk),
        ("ok", "down", "auth_invalid_key", runs[2].pk),
        ("down", "ok", "", runs[3].pk),
    ]


def test_a_run_is_not_closed_twice() -> None:
    (run,) = started([make.run(make.check())], NOON)
    assert ledger.close_many([(run, passed(run, NOON))], LATER) == [run]
    assert ledger.close_many([(run, failed(run, NOON))], LATER) == []
    run.refresh_from_db()
    assert run.status == "ok"
    assert LaneHour.objects.get().ok == 1


def test_a_missed_run_stays_missed_when_its_outcome_comes_after_all() -> None:
    (run,) = started([make.run(make.check())], NOON)
    Run.objects.filter(pk=run.pk).update(state="missed")
    assert ledger.close_many([(run, passed(run, NOON))], LATER) == []


def test_a_run_that_another_worker_took_over_is_closed_by_that_one_alone() -> None:
    run = make.run(make.check(), attempts=1)
    (dead,) = started([run], NOON)
    ledger.miss_overdue(NOON + timedelta(seconds=125))
    (taken_over,) = started([run], NOON + timedelta(seconds=126))
    assert ledger.close_many([(dead, failed(dead, NOON))], NOON + timedelta(seconds=127)) == []
    assert ledger.close_many([(taken_over, passed(run, NOON))], NOON + timedelta(seconds=128)) == [taken_over]


def test_older_evidence_is_counted_and_changes_no_state() -> None:
    check = make.check()
    slow, quick = started([make.run(check, NOON), make.run(check, LATER)], NOON)
    ledger.close_many([(quick, passed(quick, NOON + timedelta(minutes=5)))], NOON + timedelta(minutes=6))
    ledger.close_many([(slow, failed(slow, NOON))], NOON + timedelta(minutes=6))
    assert (state_of(check).status, state_of(check).recent) == ("ok", "o")
    assert (LaneHour.objects.get().ok, LaneHour.objects.get().down) == (1, 1)


def test_a_batch_of_one_lane_is_judged_in_the_order_of_time() -> None:
    check = make.check()
    runs = started([make.run(check, NOON + timedelta(minutes=minute)) for minute in range(3)], NOON)
    makers = (passed, failed, failed)
    results = [(run, maker(run, run.slot)) for run, maker in zip(runs, makers, strict=True)]
    ledger.close_many(reversed(results), NOON + timedelta(minutes=3))
    assert (state_of(check).state, state_of(check).recent) == ("down", "odd")


def test_hours_count_statuses_and_the_worst_confirmed_state_of_each_half() -> None:
    check = make.check()
    live(check, "ooddd", every=timedelta(minutes=10))
    hour = LaneHour.objects.get()
    assert (hour.ok, hour.down, hour.worst_first, hour.worst_second) == (2, 3, "ok", "down")


def test_hours_keep_a_histogram_of_passes_alone() -> None:
    check = make.check()
    live(check, "oodg", every=timedelta(minutes=10))
    hour = LaneHour.objects.get()
    halves = (rollups.unpack(bytes(hour.latency_first)), rollups.unpack(bytes(hour.latency_second)))
    assert halves == (2 * rollups.one(90), rollups.one(90))


def test_tokens_are_charged_to_the_utc_day() -> None:
    check = make.check()
    live(check, "oo", start=datetime(2026, 11, 30, 23, 59, tzinfo=UTC))
    state = state_of(check)
    assert (state.tokens_day, state.tokens_spent) == (date(2026, 12, 1), 12)


def test_steps_are_kept_of_failures_changes_and_the_newest_pass() -> None:
    change, plain, first, down, back, newest = live(make.check(), "ooddoo")
    kept = {steps.run_id for steps in RunSteps.objects.all()}
    assert kept == {change.pk, first.pk, down.pk, back.pk, newest.pk}
    assert plain.pk not in kept


def test_steps_are_kept_of_what_a_person_asked_for() -> None:
    check = make.check()
    live(check, "o")
    at = NOON + timedelta(minutes=5)
    (asked,) = started(ledger.open_manual([check], now=at, user=make.user()), at)
    ledger.close_many([(asked, passed(asked, at))], at + timedelta(seconds=1))
    live(check, "oo", start=NOON + timedelta(minutes=10))
    assert RunSteps.objects.filter(run=asked).exists()


def test_kept_evidence_is_capped() -> None:
    live(make.check(), "d")
    _, chat = RunSteps.objects.get().steps
    assert len(chat["evidence"]["body"]) == 4096
    assert chat["candidates"] == ["auth_invalid_key", "auth_key_malformed"]


def test_a_clock_ahead_of_ours_does_not_reach_into_the_future() -> None:
    check = make.check()
    (run,) = started([make.run(check)], NOON)
    ledger.close_many([(run, passed(run, NOON + timedelta(hours=3)))], LATER)
    assert state_of(check).evidence_at == LATER


@pytest.mark.parametrize("lanes", [1, 25])
def test_closing_costs_the_same_queries_for_one_lane_and_for_many(lanes, django_assert_num_queries) -> None:
    team = make.team()
    checks = [make.check(team) for _ in range(lanes)]
    for check in checks:
        live(check, "o")
    at = NOON + timedelta(minutes=9)
    runs = started([make.run(check, at) for check in checks], at)
    with django_assert_num_queries(11):
        ledger.close_many([(run, failed(run, at, Reason.QUOTA_EXHAUSTED)) for run in runs], at)
