"""Pauses with an end, retests while down, schedules by cron, and clocks that jump."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from itertools import pairwise

import pytest
import time_machine

from panel import ledger, schedule, tasks
from panel.actions import Refused, checks
from panel.actions.rhythm import Rhythm, apply
from panel.models import Check, Role, Run
from tests import make
from tests.make import NOON
from tests.panel.time.outcomes import failed, live, passed, started, state_of

pytestmark = pytest.mark.django_db
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def on_schedule(**fields) -> Check:
    """A check that waits for its next slot after noon."""
    check = make.check(**({"interval_s": 300} | fields))
    check.next_run_at = schedule.next_slot(check, NOON)
    check.save()
    return check


def lived(check: Check, now: datetime, outcome=passed) -> list[Run]:
    """One tick with what follows from it."""
    runs = started(schedule.claim_due(now), now)
    return ledger.close_many([(run, outcome(run, now)) for run in runs], now)


def slots_of(check: Check) -> list[datetime]:
    return list(Run.objects.filter(check_order=check).order_by("slot").values_list("slot", flat=True))


def test_a_pause_ends_when_it_said_and_the_lane_is_fresh_again() -> None:
    lead = make.member(role=Role.LEAD)
    check = make.check(lead.team, interval_s=60)
    live(check, "o")
    with time_machine.travel(NOON, tick=False):
        checks.pause(actor=lead, lane=check.lane, reason="moving", until=NOON + HOUR)
    with time_machine.travel(NOON + HOUR - MINUTE, tick=False):
        tasks.keep_time()
    assert Check.objects.get(pk=check.pk).pause_reason == "moving"
    with time_machine.travel(NOON + HOUR, tick=False):
        tasks.keep_time()
    check.refresh_from_db()
    assert (check.paused_at, check.paused_until, check.pause_reason) == (None, None, "")
    assert NOON + HOUR < check.next_run_at <= NOON + HOUR + MINUTE
    assert state_of(check).state == "ok"


@pytest.mark.parametrize(
    ("reason", "until", "field"),
    [(" ", None, "reason"), ("x" * 301, None, "reason"), ("moving", NOON, "until")],
)
def test_a_pause_without_a_reason_or_with_an_end_in_the_past_is_refused(reason, until, field: str) -> None:
    lead = make.member(role=Role.LEAD)
    with pytest.raises(Refused) as refusal:
        checks.pause(actor=lead, lane=make.check(lead.team).lane, reason=reason, until=until)
    assert refusal.value.field == field


def test_after_a_failure_the_next_slot_comes_after_the_retest_and_after_a_pass_as_usual() -> None:
    check = on_schedule(retest_s=60)
    first = check.next_run_at
    lived(check, first, failed)
    check.refresh_from_db()
    assert check.next_run_at == first + MINUTE
    lived(check, first + MINUTE, failed)
    assert state_of(check).state == "down"
    for minute in range(2, 8):
        lived(check, first + minute * MINUTE)
    assert [slot - first for slot in slots_of(check)] == [MINUTE * late for late in (0, 1, 2, 3, 5)]


def test_a_lane_without_a_retest_keeps_its_interval_while_down() -> None:
    check = on_schedule(retest_s=None)
    first = check.next_run_at
    lived(check, first, failed)
    check.refresh_from_db()
    assert check.next_run_at == first + 5 * MINUTE


def test_a_pass_brings_nothing_forward() -> None:
    check = on_schedule(retest_s=60)
    first = check.next_run_at
    lived(check, first)
    check.refresh_from_db()
    assert check.next_run_at == first + 5 * MINUTE


def test_a_cron_check_is_claimed_at_its_slots_and_those_slept_through_are_missed() -> None:
    check = on_schedule(cron="0 * * * *", zone="Asia/Kolkata")
    first = check.next_run_at
    lived(check, first)
    lived(check, first + 5 * HOUR)
    runs = Run.objects.filter(check_order=check).order_by("slot")
    assert [run.slot - first for run in runs] == [hour * HOUR for hour in range(6)]
    assert [run.state for run in runs] == ["done", *["missed"] * 4, "done"]


def test_slots_of_quiet_hours_are_neither_run_nor_missed() -> None:
    check = on_schedule(interval_s=600, quiet_from=time(13), quiet_to=time(17))
    for minutes in range(0, 6 * 60, 7):
        lived(check, NOON + minutes * MINUTE)
    assert not Run.objects.filter(state="missed").exists()
    assert all(slot.hour not in (13, 14, 15, 16) for slot in slots_of(check))


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_a_clock_that_jumps_an_hour_loses_no_slot_and_doubles_none(jump: timedelta) -> None:
    check = on_schedule()
    for minute in range(30):
        lived(check, NOON + minute * MINUTE)
    for minute in range(30, 150):
        lived(check, NOON + jump + minute * MINUTE)
    slots = slots_of(check)
    every = {later - sooner for sooner, later in pairwise(slots)}
    assert every == {5 * MINUTE}
    assert slots[-1] > NOON + jump + 140 * MINUTE


def test_a_clock_that_was_years_ahead_for_a_minute_stops_nothing() -> None:
    check = on_schedule()
    lived(check, NOON + 5 * MINUTE)
    lived(check, NOON + timedelta(days=700), failed)
    schedule.come_back(NOON + 10 * MINUTE)
    check.refresh_from_db()
    assert check.next_run_at == schedule.next_slot(check, NOON + 10 * MINUTE)
    lived(check, NOON + 16 * MINUTE)
    assert (state_of(check).status, state_of(check).evidence_at.year) == ("ok", NOON.year)


def test_a_schedule_that_comes_once_a_month_is_not_brought_forward() -> None:
    check = on_schedule(cron="0 0 1 * *")
    slot = check.next_run_at
    schedule.come_back(NOON - timedelta(days=25))
    check.refresh_from_db()
    assert check.next_run_at == slot


def test_the_hour_that_comes_twice_is_checked_twice_and_no_slot_is_doubled() -> None:
    night = datetime(2026, 10, 24, 23, tzinfo=UTC)
    check = make.check(cron="*/15 * * * *", zone="Europe/Berlin")
    check.next_run_at = schedule.next_slot(check, night)
    check.save()
    for minute in range(5 * 60):
        lived(check, night + minute * MINUTE)
    assert len(slots_of(check)) == pytest.approx(20, abs=1)
    assert not Run.objects.filter(state="missed").exists()


@pytest.mark.parametrize(
    ("rhythm", "field"),
    [
        (Rhythm(cron="* * *"), "cron"),
        (Rhythm(cron="0 0 30 2 *"), "cron"),
        (Rhythm(cron="0 3 * * *", quiet_from=time(2), quiet_to=time(4)), "cron"),
        (Rhythm(zone="Mars/Olympus"), "zone"),
        (Rhythm(quiet_from=time(2)), "quiet_to"),
        (Rhythm(quiet_from=time(2), quiet_to=time(2)), "quiet_to"),
        (Rhythm(retest_s=5), "retest_s"),
    ],
)
def test_a_rhythm_that_cannot_be_followed_is_refused(rhythm: Rhythm, field: str) -> None:
    with pytest.raises(Refused) as refusal:
        apply(Check(lane_id=7), rhythm)
    assert refusal.value.field == field


def test_a_rhythm_says_cron_zone_quiet_hours_and_retest() -> None:
    order = Check(lane_id=7)
    apply(order, Rhythm("0  9 * * 1-5", "Asia/Shanghai", time(22), time(7), 0))
    assert (order.cron, order.zone, order.retest_s) == ("0 9 * * 1-5", "Asia/Shanghai", None)
