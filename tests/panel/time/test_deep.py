"""Climbs above the second rung: when they are due, how many at once, what they make of a lane."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from checks import Outcome, Reason, Rung, Status, Step, Told
from panel import ledger, schedule
from panel.models import Check, Leftover, Run, RunOutput, RunSteps
from tests import make
from tests.panel.time.outcomes import failed, passed, state_of

pytestmark = pytest.mark.django_db
NOON = make.NOON
MINUTE = timedelta(minutes=1)
CHAT = Step(Rung.CHANNEL, "chat", Status.OK)


def deep_check(**fields: Any) -> Check:
    """A check that climbs to the fifth rung once an hour, due now."""
    check = make.check(**({"top_rung": 5, "interval_s": 300, "down_k": 1, "down_n": 1} | fields))
    check.next_run_at = schedule.next_slot(check, NOON - timedelta(seconds=300))
    check.save()
    return check


def climbed(check: Check, outcome_of: Any, at: Any = NOON, top_rung: int = 5) -> Run:
    """A run of that height, closed with the outcome."""
    run = make.run(check, at, top_rung=top_rung)
    mine = ledger.start_deep(run.pk, at) if top_rung > 2 else ledger.start([run.pk], at)[0]
    assert mine is not None
    ledger.close_many([(mine, outcome_of(mine, at))], at + timedelta(seconds=1))
    return mine


def high(run: Run, at: Any) -> Outcome:
    """A pass of three rungs; the two above have nothing to ask."""
    steps = (CHAT, Step(Rung.SDK, "sdk_openai", Status.OK), Step(Rung.AGENT, "agent", Status.NOT_TESTABLE))
    return Outcome(run.code, Status.OK, Rung.SDK, None, steps, at, 50.0)


def broken_high(run: Run, at: Any) -> Outcome:
    """A break at the third rung."""
    steps = (CHAT, Step(Rung.SDK, "sdk_openai", Status.DOWN, Reason.ENV_SHADOWED))
    return Outcome(run.code, Status.DOWN, Rung.SDK, Reason.ENV_SHADOWED, steps, at, 50.0)


def top_of_next(check: Check, at: Any) -> int:
    """How far the slot goes that is claimed at that time."""
    Check.objects.filter(pk=check.pk).update(
        next_run_at=schedule.next_slot(check, at - timedelta(seconds=300))
    )
    (run,) = schedule.claim_due(at)
    return run.top_rung


def test_a_lane_never_asked_higher_is_climbed_to_the_top() -> None:
    assert top_of_next(deep_check(), NOON) == 5


def test_a_lane_without_upper_rungs_is_climbed_to_the_second() -> None:
    assert top_of_next(deep_check(top_rung=2), NOON) == 2


@pytest.mark.parametrize(("minutes", "top"), [(5, 2), (50, 2), (58, 5), (70, 5)])
def test_the_upper_rungs_are_due_once_in_their_interval(minutes: int, top: int) -> None:
    check = deep_check()
    climbed(check, high)
    assert top_of_next(check, NOON + minutes * MINUTE) == top


@pytest.mark.parametrize(("minutes", "top"), [(5, 2), (13, 5)])
def test_a_broken_upper_rung_is_asked_again_within_a_quarter_of_an_hour(minutes: int, top: int) -> None:
    check = deep_check()
    climbed(check, broken_high)
    assert top_of_next(check, NOON + minutes * MINUTE) == top


def test_nothing_is_asked_above_a_rung_that_is_broken() -> None:
    check = deep_check()
    climbed(check, failed, top_rung=2)
    assert top_of_next(check, NOON + 90 * MINUTE) == 2


def test_no_second_deep_run_is_opened_while_one_is_under_way() -> None:
    check = deep_check()
    ledger.start_deep(make.run(check, NOON, top_rung=5).pk, NOON)
    assert top_of_next(check, NOON + 6 * MINUTE) == 2


def test_a_pass_below_a_broken_rung_turns_no_lane_green() -> None:
    check = deep_check()
    climbed(check, broken_high)
    climbed(check, passed, NOON + MINUTE, top_rung=2)
    state = state_of(check)
    assert (state.state, state.rung, state.reason, state.upper_broken) == ("down", 3, "env_shadowed", 3)
    assert state.evidence_at > NOON + MINUTE


def test_a_pass_of_the_broken_rung_does() -> None:
    check = deep_check()
    climbed(check, broken_high)
    climbed(check, high, NOON + MINUTE)
    state = state_of(check)
    assert (state.state, state.upper_broken) == ("ok", None)


def test_a_rung_with_nothing_to_ask_was_not_passed() -> None:
    check = deep_check()
    climbed(check, high)
    assert set(state_of(check).passed) == {"2", "3"}


def test_a_break_above_the_standing_order_leaves_the_lane_as_it_is() -> None:
    check = deep_check(top_rung=2)
    climbed(check, passed, top_rung=2)
    climbed(check, broken_high, NOON + MINUTE)
    assert state_of(check).state == "ok"


def test_a_trial_below_the_top_does_not_put_off_the_upper_rungs() -> None:
    check = deep_check()
    climbed(check, high, top_rung=3)
    assert state_of(check).upper_at is None


def test_a_deep_run_is_not_started_with_a_batch() -> None:
    run = make.run(deep_check(), NOON, top_rung=3)
    assert ledger.start([run.pk], NOON) == []
    assert ledger.start_deep(run.pk, NOON) == run
    assert ledger.start_deep(run.pk, NOON) is None


def test_three_at_once_climb_high_in_a_zone_and_the_fourth_waits() -> None:
    runs = [make.run(deep_check(), NOON, top_rung=5) for _ in range(4)]
    assert [ledger.start_deep(run.pk, NOON) is not None for run in runs] == [True, True, True, False]
    assert Run.objects.get(pk=runs[3].pk).state == "queued"


def test_one_at_once_climbs_on_a_host() -> None:
    team = make.team()
    first, second = (make.run(make.check(team), NOON, top_rung=5, host_name="gpu-a") for _ in range(2))
    other_team = make.run(make.check(), NOON, top_rung=5, host_name="gpu-a")
    assert ledger.start_deep(first.pk, NOON) is not None
    assert ledger.start_deep(second.pk, NOON) is None
    assert ledger.start_deep(other_team.pk, NOON) is not None


def test_a_deep_run_that_waits_for_its_turn_is_sent_again() -> None:
    run = make.run(deep_check(), NOON, top_rung=5, lease_until=NOON, attempts=5)
    assert ledger.miss_overdue(NOON + 59 * MINUTE) == [run]
    assert ledger.miss_overdue(NOON + 61 * MINUTE) == []
    assert Run.objects.get().reason == "run_missed"


def test_a_deep_run_is_held_by_a_worker_that_says_it_is_there() -> None:
    mine = ledger.start_deep(make.run(deep_check(), NOON, top_rung=5).pk, NOON)
    for minute in range(15):
        assert ledger.hold(mine, NOON + minute * MINUTE)
        assert ledger.miss_overdue(NOON + minute * MINUTE + timedelta(seconds=59)) == []


def test_a_worker_that_was_silent_too_long_learns_that_the_run_is_no_longer_its_own() -> None:
    mine = ledger.start_deep(make.run(deep_check(), NOON, top_rung=5).pk, NOON)
    ledger.miss_overdue(NOON + 2 * MINUTE)
    assert not ledger.hold(mine, NOON + 3 * MINUTE)


def test_a_dry_run_whose_worker_fell_silent_is_missed_once_with_what_it_told() -> None:
    check = deep_check()
    mine = ledger.start_deep(make.run(check, NOON, top_rung=5).pk, NOON)
    ledger.Notebook(mine, 100).note([Told(mine.code, steps=(CHAT,))], NOON)
    assert ledger.miss_overdue(NOON + 30 * MINUTE) == []
    run = Run.objects.get()
    assert (run.state, run.reason) == ("missed", "dry_run_interrupted")
    assert RunSteps.objects.get(run=run).steps[0]["name"] == "chat"
    assert state_of(check).upper_at == NOON + 30 * MINUTE


def test_what_is_told_is_written_in_order_up_to_its_cap() -> None:
    mine = ledger.start_deep(make.run(deep_check(), NOON, top_rung=5).pk, NOON)
    notes = ledger.Notebook(mine, 10)
    for text in ("one\n", "t\x00o\n", "three\n", "four\n"):
        notes.note([Told(mine.code, output=text)], NOON)
    assert list(RunOutput.objects.values_list("number", "text")) == [
        (1, "one\n"),
        (2, "t\ufffdo\n"),
        (3, "th"),
    ]


def test_what_is_told_late_is_dropped() -> None:
    mine = ledger.start_deep(make.run(deep_check(), NOON, top_rung=5).pk, NOON)
    ledger.miss_overdue(NOON + 30 * MINUTE)
    ledger.Notebook(mine, 100).note([Told(mine.code, steps=(CHAT,), output="late")], NOON)
    assert not RunOutput.objects.exists()
    assert not RunSteps.objects.exists()


def test_the_steps_told_on_the_way_give_way_to_the_outcome_s() -> None:
    check = deep_check()
    mine = ledger.start_deep(make.run(check, NOON, top_rung=5).pk, NOON)
    ledger.Notebook(mine, 100).note([Told(mine.code, steps=(CHAT,))], NOON)
    ledger.close_many([(mine, high(mine, NOON))], NOON + MINUTE)
    assert len(RunSteps.objects.get(run=mine).steps) == 3
    assert not Leftover.objects.exists()
