"""Decides when: which checks are due, which slot each gets, and which slots were slept through.

A check's slots lie one interval apart, shifted inside the interval by a hash of its lane, so that
lanes made together do not run together. Slots are counted from the epoch and never from the last
run, so nothing drifts.

When nobody claimed for a while (a sleeping laptop, a stopped worker), only the newest due slot runs:
a lane's present is wanted, not its past. The slots before it are missed (`ledger.Opening`).
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import F

from panel import ledger
from panel.models import Check, Host, HostReading, LaneState, Run

BROKEN_AGAIN = timedelta(minutes=15)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def next_slot(check: Check, after: datetime) -> datetime:
    """Return the check's first slot later than `after`, a whole second."""
    return _slot_after(b"lane %d" % check.lane_id, check.interval_s, after)


def _slot_after(name: bytes, interval_s: int, after: datetime) -> datetime:
    shift = zlib.crc32(name) % interval_s
    passed = (after - _EPOCH) // timedelta(seconds=1) - shift
    return _EPOCH + timedelta(seconds=(passed // interval_s + 1) * interval_s + shift)


def first_slot(check: Check, now: datetime) -> datetime:
    """Return the slot at which a check that starts, resumes or changes its interval now runs next."""
    return next_slot(check, now)


def next_reading(host: Host, after: datetime) -> datetime:
    """Return the host's first reading slot later than `after`, a whole second."""
    return _slot_after(b"host %d" % host.pk, host.interval_s, after)


@transaction.atomic
def claim_readings(now: datetime, *, limit: int = 200) -> list[HostReading]:
    """Give each host that is due its slot, as `claim_due` does for checks; return the readings opened."""
    rows = (
        Host.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(next_reading_at__lte=now)
        .order_by("next_reading_at")[:limit]
    )
    openings = []
    for host in rows:
        if host.next_reading_at is None:
            continue
        oldest, following = host.next_reading_at, next_reading(host, now)
        newest = max(oldest, following - timedelta(seconds=host.interval_s))
        slept = range(int(oldest.timestamp()), int(newest.timestamp()), host.interval_s)
        openings.append(ledger.ReadingOpening(host, newest, slept))
        Host.objects.filter(pk=host.pk).update(next_reading_at=following)
    return ledger.open_readings(openings, now=now) if openings else []


@transaction.atomic
def claim_due(now: datetime, *, limit: int = 500) -> list[Run]:
    """Give each due check its slot and move it on to the first one after `now`; return the runs opened.

    Exactly one row a slot, whoever else claims: PostgreSQL skips the checks another claim holds,
    SQLite's immediate transactions follow each other, and a slot is unique among a check's runs.
    """
    due = _lock_due(now, limit)
    climbing = _climbing_high([check for check, _ in due])
    openings = []
    moves: defaultdict[timedelta, list[int]] = defaultdict(list)
    for check, oldest in due:
        following = next_slot(check, now)
        moves[following - oldest].append(check.pk)
        top = check.top_rung if check.pk not in climbing and upper_due(check, now) else ledger.SHALLOW
        openings.append(_opening(check, oldest, following, top))
    for step, pks in moves.items():  # one step for all checks of an interval, unless some fell behind
        Check.objects.filter(pk__in=pks).update(next_run_at=F("next_run_at") + step)
    return ledger.open_slots(openings, now=now)


def upper_due(check: Check, now: datetime) -> bool:
    """Tell whether the rungs above the second are due; `check.lane` is loaded with its state.

    They are not asked above a rung that is broken already. Where they broke themselves they are asked again
    sooner. Half an interval is forgiven, so that a slot a little early is not left out.
    """
    state: LaneState | None = getattr(check.lane, "now", None)
    if check.top_rung <= ledger.SHALLOW or state is None:
        return False
    if state.status in ("down", "not_testable") and (state.rung or 0) <= ledger.SHALLOW:
        return False
    if state.upper_at is None:
        return True
    every = timedelta(seconds=check.upper_interval_s)
    if state.upper_broken is not None:
        every = min(every, BROKEN_AGAIN)
    return now - state.upper_at >= every - timedelta(seconds=check.interval_s) / 2


def _climbing_high(checks: list[Check]) -> set[int]:
    """Return those whose last deep run is still under way: no query where none climbs so high."""
    high = [check.pk for check in checks if check.top_rung > ledger.SHALLOW]
    return ledger.climbing_high(high) if high else set()


def _lock_due(now: datetime, limit: int) -> list[tuple[Check, datetime]]:
    rows = (
        Check.objects.select_for_update(skip_locked=True, of=("self",))
        .select_related("lane__profile__recipe__host", "lane__now")
        .filter(next_run_at__lte=now, paused_at=None, lane__in_use=True)
        .order_by("next_run_at")[:limit]
    )
    return [(check, check.next_run_at) for check in rows if check.next_run_at is not None]


def _opening(check: Check, oldest: datetime, following: datetime, top_rung: int) -> ledger.Opening:
    """Return the newest due slot to run, and those from `oldest` on that were slept through."""
    newest = max(oldest, following - timedelta(seconds=check.interval_s))
    first, last = int(oldest.timestamp()), int(newest.timestamp())
    return ledger.Opening(check, newest, missed=range(first, last, check.interval_s), top_rung=top_rung)
