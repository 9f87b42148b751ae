"""What breaks around a run, on the database in use: no slot is lost, none doubled."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from panel import ledger, schedule
from panel.models import Check, LaneHour, LaneState, Run
from tests import make
from tests.panel.time.outcomes import failed, passed, started, state_of

pytestmark = pytest.mark.django_db(transaction=True)
NOON = make.NOON


def at_once(*deeds: Callable[[], Any]) -> list[Any]:
    """Do all deeds in threads that start together; return what they returned, in the order of the deeds."""
    gate, results = threading.Barrier(len(deeds)), dict[int, Any]()

    def work(number: int, deed: Callable[[], Any]) -> None:
        try:
            gate.wait()
            results[number] = deed()
        except Exception as error:  # noqa: BLE001 - shown by the test that started the thread
            results[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(deeds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [results[number] for number in range(len(deeds))]


def due_checks(count: int) -> list[Check]:
    team = make.team()
    checks = [make.check(team) for _ in range(count)]
    for check in checks:
        check.next_run_at = schedule.next_slot(check, NOON - timedelta(seconds=check.interval_s))
        check.save()
    return checks


@contextmanager
def impatient(milliseconds: int) -> Iterator[None]:
    """Give up on a locked row after a moment instead of the usual seconds."""
    word, usual = (
        ("PRAGMA busy_timeout", 20_000) if connection.vendor == "sqlite" else ("SET lock_timeout", 0)
    )
    with connection.cursor() as cursor:
        cursor.execute(f"{word}={milliseconds}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"{word}={usual}")


@contextmanager
def locked() -> Iterator[threading.Event]:
    """Another connection holds the lanes' states until the event is set, or the block ends."""
    release, held = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            LaneState.objects.update(recent="")
            held.set()
            release.wait(20)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    try:
        yield release
    finally:
        release.set()
        thread.join()


def test_two_ticks_at_once_lose_no_slot_and_double_none() -> None:
    checks = due_checks(30)
    claimed = at_once(*[lambda: schedule.claim_due(NOON, limit=10)] * 6)
    ours = Counter(run.check_order_id for runs in claimed for run in runs)
    while more := schedule.claim_due(NOON):
        ours.update(run.check_order_id for run in more)
    assert ours == {check.pk: 1 for check in checks}
    assert Run.objects.count() == 30


def test_a_run_delivered_to_two_workers_at_once_is_started_by_one() -> None:
    runs = [make.run(check) for check in due_checks(20)]
    pks = [run.pk for run in runs]
    taken = at_once(*[lambda: ledger.start(pks, NOON)] * 4)
    for attempt in range(3):
        taken.append(ledger.start(pks, NOON + timedelta(seconds=attempt)))
    assert Counter(run.pk for batch in taken for run in batch) == dict.fromkeys(pks, 1)


def test_two_sweeps_at_once_settle_an_overdue_run_once() -> None:
    run = make.run(make.check(interval_s=20), attempts=1, lease_until=NOON)
    at_once(*[lambda: ledger.miss_overdue(NOON + timedelta(minutes=1))] * 4)
    run.refresh_from_db()
    assert (run.state, LaneHour.objects.get().missed) == ("missed", 1)


def test_batches_that_close_at_once_lose_no_count() -> None:
    checks = due_checks(4)
    slots = [NOON + timedelta(seconds=second) for second in range(8)]
    batches = [started([make.run(check, slot) for check in checks], NOON) for slot in slots]
    results = [[(run, passed(run, run.slot)) for run in batch] for batch in batches]
    closed = at_once(
        *[lambda batch=batch: ledger.close_many(batch, NOON + timedelta(minutes=1)) for batch in results]
    )
    assert [len(runs) for runs in closed] == [4] * 8
    assert set(LaneHour.objects.values_list("ok", flat=True)) == {8}
    assert set(LaneState.objects.exclude(tokens_spent=0).values_list("tokens_spent", flat=True)) == {8 * 12}


def test_the_same_outcome_twice_at_once_is_written_once() -> None:
    (run,) = started([make.run(make.check())], NOON)
    closed = at_once(*[lambda: ledger.close_many([(run, failed(run, NOON))], NOON)] * 4)
    assert sorted(len(runs) for runs in closed) == [0, 0, 0, 1]
    assert LaneHour.objects.get().down == 1


def test_a_database_locked_for_a_moment_is_waited_for() -> None:
    check = make.check()
    (run,) = started([make.run(check)], NOON)
    with locked() as release:
        threading.Timer(0.5, release.set).start()
        assert ledger.close_many([(run, passed(run, NOON))], NOON) == [run]
    assert state_of(check).state == "ok"


def test_a_database_locked_for_too_long_loses_no_run() -> None:
    check = make.check()
    (run,) = started([make.run(check, attempts=1)], NOON)
    with locked(), impatient(100), pytest.raises(OperationalError):
        ledger.close_many([(run, passed(run, NOON))], NOON)
    assert Run.objects.get().state == "running"
    assert ledger.miss_overdue(NOON + timedelta(minutes=2, seconds=5)) == [run]
    (again,) = started([run], NOON + timedelta(minutes=2, seconds=5))
    assert ledger.close_many([(again, passed(again, NOON))], NOON + timedelta(minutes=3)) == [again]
    assert LaneHour.objects.get().ok == 1


def test_a_claim_that_cannot_be_written_leaves_its_slots_due() -> None:
    due_checks(1)
    with transaction.atomic():
        schedule.claim_due(NOON)
        transaction.set_rollback(True)
    assert Run.objects.count() == 0
    assert len(schedule.claim_due(NOON)) == 1


def test_workers_that_take_deep_runs_at_once_do_not_count_past_each_other() -> None:
    team = make.team()
    runs = [make.run(make.check(team), NOON, top_rung=3) for _ in range(6)]
    taken = at_once(*(partial(ledger.start_deep, run.pk, NOON) for run in runs))
    assert Counter(type(each).__name__ for each in taken) == {"Run": 3, "NoneType": 3}
    assert Run.objects.filter(state="running").count() == 3
