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
from panel.models import Check, Run

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def next_slot(check: Check, after: datetime) -> datetime:
    """Return the check's first slot later than `after`, a whole second."""
    shift = zlib.crc32(b"lane %d" % check.lane_id) % check.interval_s
    passed = (after - _EPOCH) // timedelta(seconds=1) - shift
    return _EPOCH + timedelta(seconds=(passed // check.interval_s + 1) * check.interval_s + shift)


def first_slot(check: Check, now: datetime) -> datetime:
    """Return the slot at which a check that starts, resumes or changes its interval now runs next."""
    return next_slot(check, now)


@transaction.atomic
def claim_due(now: datetime, *, limit: int = 500) -> list[Run]:
    """Give each due check its slot and move it on to the first one after `now`; return the runs opened.

    Exactly one row a slot, whoever else claims: PostgreSQL skips the checks another claim holds,
    SQLite's immediate transactions follow each other, and a slot is unique among a check's runs.
    """
    openings = []
    moves: defaultdict[timedelta, list[int]] = defaultdict(list)
    for check, oldest in _lock_due(now, limit):
        following = next_slot(check, now)
        moves[following - oldest].append(check.pk)
        openings.append(_opening(check, oldest, following))
    for step, pks in moves.items():  # one step for all checks of an interval, unless some fell behind
        Check.objects.filter(pk__in=pks).update(next_run_at=F("next_run_at") + step)
    return ledger.open_slots(openings, now=now)


def _lock_due(now: datetime, limit: int) -> list[tuple[Check, datetime]]:
    rows = (
        Check.objects.select_for_update(skip_locked=True, of=("self",))
        .select_related("lane__profile")
        .filter(next_run_at__lte=now, paused_at=None, lane__in_use=True)
        .order_by("next_run_at")[:limit]
    )
    return [(check, check.next_run_at) for check in rows if check.next_run_at is not None]


def _opening(check: Check, oldest: datetime, following: datetime) -> ledger.Opening:
    """Return the newest due slot to run, and those from `oldest` on that were slept through."""
    newest = max(oldest, following - timedelta(seconds=check.interval_s))
    first, last = int(oldest.timestamp()), int(newest.timestamp())
    return ledger.Opening(check, newest, missed=range(first, last, check.interval_s))
