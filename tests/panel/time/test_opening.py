"""Runs before their outcome: asked for, started once, put back once, else missed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from panel import ledger
from panel.ledger.opening import QUEUE_LEASE
from panel.models import LaneHour, Pulse, Run
from tests import make

pytestmark = pytest.mark.django_db
NOON = make.NOON
OVERDUE = NOON + QUEUE_LEASE + timedelta(seconds=1)


def queued(check=None, slot=NOON, **fields) -> Run:
    fields = {"attempts": 1, "lease_until": slot + QUEUE_LEASE} | fields
    return make.run(check or make.check(), slot, **fields)


def test_a_person_gets_one_run_a_check_with_their_name_on_it() -> None:
    asker, checks = make.user(), [make.check(), make.check()]
    runs = ledger.open_manual(checks, now=NOON, user=asker)
    assert {run.check_order_id for run in runs} == {check.pk for check in checks}
    assert {(run.trigger, run.asked_by, run.state, run.profile_version) for run in runs} == {
        ("person", asker, "queued", 1)
    }


def test_asking_twice_while_a_run_still_waits_gives_the_same_run() -> None:
    check, asker = make.check(), make.user()
    first = ledger.open_manual([check], now=NOON, user=asker)
    again = ledger.open_manual([check], now=NOON + timedelta(seconds=1), user=asker)
    assert again == first


def test_a_run_under_way_does_not_stand_for_one_that_is_asked_for_now() -> None:
    check = make.check()
    run = queued(check)
    ledger.start([run.pk], NOON)
    assert ledger.open_manual([check], now=NOON + timedelta(seconds=1), user=make.user()) != [run]


def test_a_run_is_started_once() -> None:
    run = queued()
    assert ledger.start([run.pk], NOON) == [run]
    assert ledger.start([run.pk], NOON) == []
    run.refresh_from_db()
    assert (run.state, run.started_at) == ("running", NOON)


def test_a_big_batch_gets_a_longer_lease() -> None:
    check = make.check()
    alone = queued(check)
    many = [queued(check, NOON + timedelta(seconds=second + 1)) for second in range(130)]
    (one,) = ledger.start([alone.pk], NOON)
    others = ledger.start([run.pk for run in many], NOON)
    assert others[0].lease_until - one.lease_until == timedelta(seconds=120)


def test_nothing_is_overdue_before_its_lease_ends() -> None:
    queued()
    assert ledger.miss_overdue(NOON + QUEUE_LEASE) == []
    assert Run.objects.get().state == "queued"


@pytest.mark.parametrize("start", [False, True])
def test_an_overdue_run_whose_slot_is_young_is_put_back_once(start: bool) -> None:
    run = queued()
    if start:
        ledger.start([run.pk], NOON)
    assert ledger.miss_overdue(NOON + timedelta(seconds=125)) == [run]
    run.refresh_from_db()
    assert (run.state, run.attempts, run.started_at) == ("queued", 2, None)
    assert ledger.miss_overdue(NOON + timedelta(seconds=200)) == []
    run.refresh_from_db()
    assert (run.state, run.reason) == ("missed", "run_missed")


def test_an_overdue_run_whose_slot_is_old_is_missed_and_counted() -> None:
    run = queued(make.check(interval_s=20))
    assert ledger.miss_overdue(OVERDUE) == []
    run.refresh_from_db()
    assert (run.state, run.finished_at) == ("missed", OVERDUE)
    assert (LaneHour.objects.get().missed, LaneHour.objects.get().hour) == (1, NOON)


def test_a_missed_run_says_nothing_of_the_lane() -> None:
    check = make.check(interval_s=20)
    queued(check)
    ledger.miss_overdue(OVERDUE)
    check.lane.now.refresh_from_db()
    assert (check.lane.now.state, check.lane.now.recent) == ("unknown", "")


def test_a_beat_is_written_at_most_every_ten_seconds() -> None:
    for second in (0, 2, 9, 10, 12):
        ledger.beat("tick", NOON + timedelta(seconds=second))
    assert Pulse.objects.get(name="tick").at == NOON + timedelta(seconds=10)
