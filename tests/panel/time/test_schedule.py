"""When checks run: slots that neither drift nor bunch, one row a slot, an account of what was missed."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from panel import schedule
from panel.models import Check, LaneHour, Run
from tests import make

pytestmark = pytest.mark.django_db
NOW = make.NOON


def due_check(ago: timedelta = timedelta(0), **fields) -> Check:
    """A check whose last slot but those of `ago` is due now."""
    check = make.check(**({"interval_s": 60} | fields))
    check.next_run_at = schedule.next_slot(check, NOW - timedelta(seconds=check.interval_s) - ago)
    check.save()
    return check


def test_slots_lie_exactly_one_interval_apart() -> None:
    check = Check(lane_id=7, interval_s=300)
    first = schedule.next_slot(check, NOW)
    second = schedule.next_slot(check, first)
    assert NOW < first <= NOW + timedelta(seconds=300)
    assert second - first == timedelta(seconds=300)
    assert schedule.next_slot(check, first + timedelta(seconds=299)) == second


def test_slots_of_many_lanes_are_spread_over_the_interval() -> None:
    slots = [schedule.first_slot(Check(lane_id=lane, interval_s=60), NOW) for lane in range(1, 3001)]
    a_second = Counter(slots)
    assert len(a_second) == 60
    assert max(a_second.values()) < 2 * 3000 / 60


def test_a_due_check_gets_one_queued_run_and_its_next_slot() -> None:
    check = due_check()
    slot = check.next_run_at
    (run,) = schedule.claim_due(NOW)
    check.refresh_from_db()
    assert (run.slot, run.state, run.attempts, run.key_number) == (slot, "queued", 1, None)
    assert run.profile_version == check.lane.profile.version
    assert check.next_run_at == schedule.next_slot(check, NOW)


def test_a_claimed_slot_is_not_claimed_again() -> None:
    due_check()
    assert len(schedule.claim_due(NOW)) == 1
    assert schedule.claim_due(NOW) == []
    assert Run.objects.count() == 1


def test_an_hour_of_late_ticks_does_not_drift() -> None:
    check = due_check()
    for minute in range(60):
        schedule.claim_due(NOW + timedelta(minutes=minute, seconds=minute % 3))
    slots = list(Run.objects.order_by("slot").values_list("slot", flat=True))
    assert {later - sooner for sooner, later in pairwise(slots)} == {timedelta(minutes=1)}
    assert check.runs.count() >= 60


@pytest.mark.parametrize("fields", [{"paused_at": NOW}, {"next_run_at": NOW + timedelta(seconds=1)}])
def test_a_paused_check_and_one_not_yet_due_are_left_alone(fields) -> None:
    check = due_check()
    Check.objects.filter(pk=check.pk).update(**fields)
    assert schedule.claim_due(NOW) == []


def test_a_lane_out_of_use_is_left_alone() -> None:
    check = due_check()
    check.lane.in_use = False
    check.lane.save()
    assert schedule.claim_due(NOW) == []


def test_the_limit_takes_the_longest_due_first_and_leaves_the_rest_for_the_next_tick() -> None:
    checks = [due_check() for _ in range(5)]
    oldest = min(check.next_run_at for check in checks)
    first = schedule.claim_due(NOW, limit=2)
    assert oldest in {run.slot for run in first}
    assert len(first) + len(schedule.claim_due(NOW)) == 5


def test_after_ten_minutes_asleep_the_newest_slot_runs_and_the_others_are_missed() -> None:
    check = due_check(ago=timedelta(minutes=10))
    (run,) = schedule.claim_due(NOW)
    missed = Run.objects.filter(state="missed")
    assert run.slot == schedule.next_slot(check, NOW) - timedelta(minutes=1)
    assert missed.count() == 10
    assert set(missed.values_list("reason", flat=True)) == {"run_missed"}
    assert sum(LaneHour.objects.values_list("missed", flat=True)) == 10


def test_a_weekend_asleep_is_counted_by_the_hour_with_a_few_rows_only() -> None:
    check = due_check(ago=timedelta(hours=48))
    schedule.claim_due(NOW)
    hours = LaneHour.objects.filter(lane=check.lane).order_by("hour")
    assert Run.objects.filter(state="missed").count() == 20
    assert sum(hour.missed for hour in hours) == 48 * 60
    assert {hour.missed for hour in list(hours)[1:-1]} == {60}


def test_a_year_asleep_is_accounted_for_one_week() -> None:
    due_check(ago=timedelta(days=365), interval_s=10)
    schedule.claim_due(NOW)
    assert LaneHour.objects.count() <= 7 * 24 + 1
    assert Run.objects.count() == 21


def test_missed_slots_fall_into_the_hours_they_belong_to() -> None:
    check = due_check(ago=timedelta(hours=3), interval_s=1800)
    schedule.claim_due(NOW)
    slots = Counter(
        slot.replace(minute=0, second=0)
        for slot in check.runs.filter(state="missed").values_list("slot", flat=True)
    )
    assert slots == {hour.hour: hour.missed for hour in LaneHour.objects.all()}


@pytest.mark.parametrize("checks", [1, 12])
def test_claiming_costs_the_same_queries_for_one_and_for_many(checks, django_assert_num_queries) -> None:
    for _ in range(checks):
        due_check()
    with django_assert_num_queries(6):  # two of them a savepoint
        assert len(schedule.claim_due(NOW)) == checks


def test_times_are_aware_and_whole_seconds() -> None:
    slot = schedule.next_slot(Check(lane_id=3, interval_s=3600), datetime(2026, 1, 1, tzinfo=UTC))
    assert slot.tzinfo is UTC
    assert slot.microsecond == 0
