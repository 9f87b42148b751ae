"""Runs before they have an outcome: opened, and started as a batch.

A run's lease says until when it may be believed to be on its way; who acts on it moves it by a
conditional UPDATE. `attempts` counts how often it was sent, and tells a worker that came back from
the dead that the run is no longer its own.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from checks import Reason
from panel.ledger.bulk import insert_new
from panel.ledger.hours import count_missed, hour_of
from panel.models import Check, Lane, Recipe, Run, User

QUEUE_LEASE = timedelta(seconds=30)
# A climb may take 60 s (`briefing.FULL_CLIMB_S`) and a worker climbs at least 64 at a time.
CLIMB = timedelta(seconds=60)
CLIMBS_AT_ONCE = 64
# Of the slots that were slept through, the newest of a check get a row each, and those of the last
# week are counted by the hour; what is older leaves a gap that the strips show.
MISSED_ROWS = 20
ACCOUNTED = timedelta(days=7)
RUN_FIELDS = tuple(field.name for field in Run._meta.concrete_fields if not field.primary_key)
OPEN = (Run.State.QUEUED, Run.State.RUNNING)
SHALLOW = 2
"""The highest rung of a plain climb; a deep one goes further, on its own."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A check's slot to run, and the slots before it that nobody ran, in seconds of the epoch, in order.

    `check.lane.profile` is loaded with its recipe. `top_rung` is how far this climb goes.
    """

    check: Check
    slot: datetime
    missed: Sequence[int]
    top_rung: int = SHALLOW


def open_slots(openings: Sequence[Opening], *, now: datetime) -> list[Run]:
    """Open one queued run for each slot and account for the missed ones; return the queued runs."""
    with transaction.atomic(savepoint=False):
        _write_missed(openings, now)
        return _insert([_queued(each.check, each.slot, now, each.top_rung) for each in openings])


def open_manual(checks: Iterable[Check], *, now: datetime, user: User) -> list[Run]:
    """Open one run for each check because a person asked; return the runs, one a check.

    A run that still waits in the queue is returned instead of a second one: it has not looked yet.
    """
    checks = list(checks)
    with transaction.atomic():
        waiting = {run.check_order_id: run for run in _waiting(checks).order_by("slot")}
        fresh = [check for check in checks if check.pk not in waiting]
        _load(fresh)
        asked: dict[str, object] = {"trigger": Run.Trigger.PERSON, "asked_by": user}
        return list(waiting.values()) + _insert(
            [_queued(check, now, now, SHALLOW, **asked) for check in fresh]
        )


def open_deep(check: Check, top_rung: int, *, now: datetime, user: User) -> Run:
    """Open a run up to this rung because a person asked; a deep run of the check that is still open is
    returned instead of a second one."""
    with transaction.atomic():
        Check.objects.select_for_update().get(pk=check.pk)  # of two that ask at once, one opens
        under_way = Run.objects.filter(check_order=check, state__in=OPEN, top_rung__gt=SHALLOW).first()
        if under_way is not None:
            return under_way
        _load([check])
        run = _queued(check, now, now, top_rung, trigger=Run.Trigger.PERSON, asked_by=user)
        return _insert([run])[0]


def climbing_high(checks: Collection[int]) -> set[int]:
    """Return those of the checks that have a deep run open."""
    runs = Run.objects.filter(check_order__in=checks, state__in=OPEN, top_rung__gt=SHALLOW)
    return set(runs.values_list("check_order_id", flat=True))


def start(run_ids: Sequence[int], now: datetime) -> list[Run]:
    """Take the runs that still wait in the queue; return those, with their checks loaded.

    A message delivered twice finds nothing left to take.
    """
    with transaction.atomic():
        waiting = Run.objects.filter(pk__in=run_ids, state=Run.State.QUEUED, top_rung__lte=SHALLOW)
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


def _waiting(checks: Iterable[Check]) -> QuerySet[Run]:
    return Run.objects.filter(check_order__in=checks, state=Run.State.QUEUED, top_rung__lte=SHALLOW)


def _load(checks: Iterable[Check]) -> None:
    """Give the checks their lanes with all that says where a climb goes: one query."""
    checks = list(checks)
    rows = Lane.objects.select_related("profile__recipe__host")
    lanes = rows.in_bulk([check.lane_id for check in checks])
    for check in checks:
        check.lane = lanes[check.lane_id]


def _queued(check: Check, slot: datetime, now: datetime, top_rung: int, **fields: object) -> Run:
    recipe: Recipe | None = getattr(check.lane.profile, "recipe", None)
    host = recipe.host if recipe else None
    goes_there = host and recipe and (top_rung > SHALLOW or recipe.where != Recipe.Where.WORKER)
    return Run(
        check_order=check,
        slot=slot,
        place=host.zone if host else check.place,  # only the workers of its zone reach a host
        host_name=host.name if host and goes_there else "",
        top_rung=top_rung,
        lease_until=now + QUEUE_LEASE,
        attempts=1,
        profile_version=check.lane.profile.version,
        **fields,
    )


def _insert(runs: list[Run]) -> list[Run]:
    """Insert the runs; return them, without those whose slot has a run already."""
    try:
        with transaction.atomic():
            insert_new(runs, RUN_FIELDS, "code")
            return runs
    except IntegrityError:  # rare, since claims hold the checks: pick out by code what is ours
        Run.objects.bulk_create(runs, ignore_conflicts=True)
        return list(Run.objects.filter(code__in=[run.code for run in runs]))


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
    count_missed([count for each in slept for count in _by_hour(each, now)])


def _by_hour(opening: Opening, now: datetime) -> Iterator[tuple[int, datetime, int]]:
    """Yield (lane, hour, missed slots) without walking over the slots themselves."""
    slots = opening.missed
    hour = max(hour_of(datetime.fromtimestamp(slots[0], UTC)), hour_of(now - ACCOUNTED))
    while (begin := int(hour.timestamp())) <= slots[-1]:
        before, after = (bisect_left(slots, edge) for edge in (begin, begin + 3600))
        if after > before:
            yield opening.check.lane_id, hour, after - before
        hour += timedelta(hours=1)
