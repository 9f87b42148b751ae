"""Clocks that jump: set forward and back, the days on which they change, the ends of months."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from panel import ledger, schedule, tasks
from panel.models import Check, LaneHour, LaneState, Pulse, Run
from tests import make
from tests.panel.time.outcomes import passed

pytestmark = [pytest.mark.drill, pytest.mark.django_db]
NOON, HOUR = make.NOON, timedelta(hours=1)
STEP = timedelta(seconds=20)


@pytest.fixture
def check() -> Check:
    order = make.check(interval_s=60)
    order.next_run_at = schedule.first_slot(order, NOON)
    order.save()
    return order


def sweep(now: datetime) -> None:
    """What the tick does, and a worker that answers at once."""
    if ledger.was_set_back(now):
        schedule.set_back(now)
    ledger.miss_overdue(now)
    opened = schedule.claim_due(now)
    runs = ledger.start([run.pk for run in opened], now)
    ledger.close_many([(run, passed(run, now)) for run in runs], now)
    ledger.call_unknown(now)
    ledger.beat("tick", now)


def live(begin: datetime, length: timedelta, step: timedelta = STEP) -> None:
    """Sweep every so often."""
    for number in range(length // step):
        sweep(begin + number * step)


def slots() -> list[datetime]:
    return list(Run.objects.order_by("slot").values_list("slot", flat=True))


def is_whole(step: timedelta) -> None:
    """No slot is lost, none is there twice, and the hours count as many as there are."""
    told = slots()
    assert {later - sooner for sooner, later in pairwise(told)} == {step}
    hours = LaneHour.objects.all()
    assert sum(hour.ok + hour.missed for hour in hours) == Run.objects.exclude(state="queued").count()


def test_a_clock_set_forward_an_hour_misses_the_hour_and_says_so(check: Check) -> None:
    live(NOON, timedelta(minutes=5))
    live(NOON + HOUR + timedelta(minutes=5), timedelta(minutes=5))
    states = Counter(Run.objects.values_list("state", flat=True))
    assert states["done"] in (9, 10, 11)
    assert sum(hour.missed for hour in LaneHour.objects.all()) >= 58
    assert LaneState.objects.get(lane=check.lane).state == "ok"


def test_a_clock_set_back_an_hour_goes_on_checking_at_once_and_runs_no_slot_twice(check: Check) -> None:
    live(NOON, timedelta(minutes=5))
    live(NOON - HOUR + timedelta(minutes=5), timedelta(minutes=10))
    check.refresh_from_db()
    assert check.next_run_at <= NOON - HOUR + timedelta(minutes=16)
    assert Run.objects.filter(slot__lt=NOON - timedelta(minutes=30), state="done").count() in (9, 10, 11)
    assert max(Counter(slots()).values()) == 1


def test_a_clock_that_was_wrong_for_a_while_loses_and_doubles_no_slot(check: Check) -> None:
    check.interval_s = 300
    Check.objects.update(interval_s=300, next_run_at=schedule.first_slot(check, NOON))
    live(NOON, timedelta(minutes=15))
    live(NOON + HOUR + timedelta(minutes=15), timedelta(minutes=6))
    live(NOON + timedelta(minutes=21), timedelta(minutes=90))
    is_whole(timedelta(minutes=5))
    assert Run.objects.filter(state="missed").count() <= 2


def test_a_lane_that_breaks_after_the_clock_was_set_back_is_seen_to_break(check: Check) -> None:
    live(NOON, timedelta(minutes=5))
    live(NOON - HOUR, timedelta(minutes=3))
    state = LaneState.objects.get(lane=check.lane)
    assert NOON - HOUR < state.evidence_at < NOON
    ledger.call_unknown(NOON - HOUR + timedelta(minutes=9))
    state.refresh_from_db()
    assert state.state == "unknown"


def test_a_clock_that_is_corrected_by_a_minute_is_not_taken_for_one_that_was_set(check: Check) -> None:
    live(NOON, timedelta(minutes=5))
    assert not ledger.was_set_back(NOON + timedelta(minutes=4))
    assert Pulse.objects.get(name="tick").at > NOON


@pytest.mark.parametrize(
    ("cron", "zone", "day", "hours"),
    [
        ("30 2 * * *", "Europe/Berlin", datetime(2026, 3, 28, tzinfo=UTC), 72),
        ("30 2 * * *", "Europe/Berlin", datetime(2026, 10, 24, tzinfo=UTC), 72),
        ("30 1 * * *", "America/New_York", datetime(2026, 10, 31, tzinfo=UTC), 72),
        ("0 9 * * *", "Asia/Shanghai", datetime(2026, 3, 28, tzinfo=UTC), 72),
    ],
)
def test_a_daily_cron_runs_once_a_day_through_the_change_of_clocks(
    cron: str, zone: str, day: datetime, hours: int
) -> None:
    order = make.check(cron=cron, zone=zone)
    Check.objects.filter(pk=order.pk).update(next_run_at=schedule.first_slot(order, day))
    live(day, timedelta(hours=hours), timedelta(minutes=30))
    assert Run.objects.count() == hours // 24
    assert not Run.objects.exclude(state="done").exists()


@pytest.mark.parametrize("day", [datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 10, 24, tzinfo=UTC)])
def test_an_interval_knows_no_change_of_clocks(day: datetime) -> None:
    order = make.check(interval_s=1800, zone="Europe/Berlin")
    first = schedule.first_slot(order, day + timedelta(hours=22))
    Check.objects.filter(pk=order.pk).update(next_run_at=first)
    live(day + timedelta(hours=22), timedelta(hours=8), timedelta(minutes=15))
    is_whole(timedelta(minutes=30))
    assert Run.objects.count() == 16


@pytest.mark.parametrize(
    ("cron", "days"),
    [("0 0 31 * *", [31, 31, 31]), ("0 0 L * *", [31, 28, 31, 30, 31]), ("0 0 1 * *", [1, 1, 1, 1, 1])],
)
def test_the_ends_of_months_are_met_in_each_that_has_one(cron: str, days: list[int]) -> None:
    begin = datetime(2027, 1, 1, 12, tzinfo=UTC)
    order = make.check(cron=cron, zone="UTC")
    Check.objects.filter(pk=order.pk).update(next_run_at=schedule.first_slot(order, begin))
    live(begin, timedelta(days=152), timedelta(hours=12))
    assert [slot.day for slot in slots()] == days


def test_the_tick_itself_sets_right_what_a_set_back_clock_left(check: Check, time_machine) -> None:
    time_machine.move_to(NOON + HOUR, tick=False)
    ledger.beat("tick", NOON + HOUR)
    Check.objects.filter(pk=check.pk).update(next_run_at=NOON + HOUR)
    time_machine.move_to(NOON, tick=False)
    tasks.tick()
    check.refresh_from_db()
    assert NOON < check.next_run_at <= NOON + timedelta(minutes=1)
    assert Pulse.objects.get(name="tick").at == NOON
