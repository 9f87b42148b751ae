"""Runs before they have an outcome: opened, started, put back when their worker fell silent, missed.

A run's lease says until when it may be believed to be on its way; who acts on it moves it by a
conditional UPDATE. `attempts` counts how often it was sent, and tells a worker that came back from
the dead that the run is no longer its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F

from checks import Reason
from panel.ledger.hours import HourBook, hour_of, lock_states
from panel.models import Check, Lane, Run, User

QUEUE_LEASE = timedelta(seconds=30)
# A climb may take 60 s (`briefing.FULL_CLIMB_S`) and a worker climbs at least 64 at a time.
CLIMB = timedelta(seconds=60)
CLIMBS_AT_ONCE = 64
SENDINGS = 2
OVERDUE_AT_ONCE = 1000
# Of the slots that were slept through, the newest of a check get a row each, and those of the last
# week are counted by the hour; what is older leaves a gap that the strips show.
MISSED_ROWS = 20
ACCOUNTED = timedelta(days=7)
OPEN = (Run.State.QUEUED, Run.State.RUNNING)


@dataclass(frozen=True, slots=True)
class Opening:
    """A check's slot to run, and the slots before it that nobody ran, in seconds of the epoch.

    `check.lane.profile` is loaded.
    """

    check: Check
    slot: datetime
    missed: range


def open_slots(openings: Sequence[Opening], *, now: datetime) -> list[Run]:
    """Open one queued run for each slot and account for the missed ones; return the queued runs."""
    with transaction.atomic():
        _write_missed(openings, now)
        return _insert([_queued(each.check, each.slot, now) for each in openings])


def open_manual(checks: Iterable[Check], *, now: datetime, user: User) -> list[Run]:
    """Open one run for each check because a person asked; return the runs, one a check.

    A run that still waits in the queue is returned instead of a second one: it has not looked yet.
    """
    checks = list(checks)
    with transaction.atomic():
        waiting = {
            run.check_order_id: run
            for run in Run.objects.filter(check_order__in=checks, state=Run.State.QUEUED).order_by("slot")
        }
        fresh = [check for check in checks if check.pk not in waiting]
        lanes = Lane.objects.select_related("profile").in_bulk([check.lane_id for check in fresh])
        runs = []
        for check in fresh:
            check.lane = lanes[check.lane_id]
            runs.append(_queued(check, now, now, trigger=Run.Trigger.PERSON, asked_by=user))
        return list(waiting.values()) + _insert(runs)


def start(run_ids: Sequence[int], now: datetime) -> list[Run]:
    """Take the runs that still wait in the queue; return those, with their checks loaded.

    A message delivered twice finds nothing left to take.
    """
    with transaction.atomic():
        waiting = Run.objects.filter(pk__in=run_ids, state=Run.State.QUEUED)
        runs = list(
            waiting.select_for_update(skip_locked=True, of=("self",))
            .select_related("check_order")
            .order_by("pk")
        )
        lease = now + CLIMB * (1 + math.ceil(len(runs) / CLIMBS_AT_ONCE))
        waiting.filter(pk__in=[run.pk for run in runs]).update(
            state=Run.State.RUNNING, started_at=now, lease_until=lease
        )
    for run in runs:
        run.state, run.started_at, run.lease_until = Run.State.RUNNING, now, lease
    return runs


def miss_overdue(now: datetime) -> list[Run]:
    """Settle the runs whose lease ran out; return those put back into the queue, to be sent again.

    A run is sent twice at most, and only while its slot is younger than its check's interval: after
    that the next slot tells more. The others are missed, which says nothing of the lane.
    """
    with transaction.atomic():
        overdue = list(
            Run.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("check_order")
            .filter(state__in=OPEN, lease_until__lt=now)
            .order_by("pk")[:OVERDUE_AT_ONCE]
        )
        again = [run for run in overdue if _worth_another(run, now)]
        _put_back(again, now)
        _give_up([run for run in overdue if run not in again], now)
    return again


def _queued(check: Check, slot: datetime, now: datetime, **fields: object) -> Run:
    return Run(
        check_order=check,
        slot=slot,
        place=check.place,
        lease_until=now + QUEUE_LEASE,
        attempts=1,
        profile_version=check.lane.profile.version,
        **fields,
    )


def _insert(runs: list[Run]) -> list[Run]:
    """Insert the runs; return them, without those whose slot has a run already."""
    try:
        with transaction.atomic():
            return Run.objects.bulk_create(runs)
    except IntegrityError:  # rare, since claims hold the checks: pick out by code what is ours
        Run.objects.bulk_create(runs, ignore_conflicts=True)
        return list(Run.objects.filter(code__in=[run.code for run in runs]))


def _worth_another(run: Run, now: datetime) -> bool:
    return run.attempts < SENDINGS and now - run.slot < timedelta(seconds=run.check_order.interval_s)


def _put_back(runs: list[Run], now: datetime) -> None:
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(
        state=Run.State.QUEUED, attempts=F("attempts") + 1, started_at=None, lease_until=now + QUEUE_LEASE
    )


def _give_up(runs: list[Run], now: datetime) -> None:
    if not runs:
        return
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(
        state=Run.State.MISSED, reason=Reason.RUN_MISSED, finished_at=now, lease_until=None
    )
    _count_missed([(run.check_order.lane_id, hour_of(run.slot), 1) for run in runs])


def _write_missed(openings: Sequence[Opening], now: datetime) -> None:
    slept = [each for each in openings if each.missed]
    rows = [
        Run(
            check_order=each.check,
            slot=datetime.fromtimestamp(second, UTC),
            place=each.check.place,
            state=Run.State.MISSED,
            reason=Reason.RUN_MISSED,
            finished_at=now,
            profile_version=each.check.lane.profile.version,
        )
        for each in slept
        for second in each.missed[-MISSED_ROWS:]
    ]
    Run.objects.bulk_create(rows, ignore_conflicts=True)
    _count_missed([count for each in slept for count in _by_hour(each, now)])


def _by_hour(opening: Opening, now: datetime) -> Iterator[tuple[int, datetime, int]]:
    """Yield (lane, hour, missed slots) without walking over the slots themselves."""
    slots = opening.missed
    hour = max(hour_of(datetime.fromtimestamp(slots[0], UTC)), hour_of(now - ACCOUNTED))
    while (begin := int(hour.timestamp())) <= slots[-1]:
        before, after = (
            len(range(slots.start, min(edge, slots.stop), slots.step)) for edge in (begin, begin + 3600)
        )
        if after > before:
            yield opening.check.lane_id, hour, after - before
        hour += timedelta(hours=1)


def _count_missed(counts: Sequence[tuple[int, datetime, int]]) -> None:
    if not counts:
        return
    lanes = {lane for lane, _, _ in counts}
    lock_states(lanes)
    book = HourBook(lanes, {hour for _, hour, _ in counts})
    for lane, hour, number in counts:
        book.row(lane, hour).missed += number
    book.save()
