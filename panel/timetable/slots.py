"""The slots of a standing check: by interval or cron, outside quiet hours, closer together while it fails.

Slots are counted from the epoch or by the wall clock, and never from the last run, so nothing drifts. A
hash of the lane shifts them inside the interval, or inside the minute of a cron, so that lanes made together
do not run together.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from panel.models import Check
from panel.timetable.cron import cron_slots
from panel.timetable.quiet import quiet_until

STALE_AFTER = 2  # slots without evidence
LAG = timedelta(seconds=60)
"""A slot's run may take this long, so that evidence is not called old while it is being taken."""
MINUTE = 60
SECOND = timedelta(seconds=1)
# A schedule that finds no slot outside quiet hours in so many tries has none worth waiting for.
TRIES = 20
# Of a long sleep, slots that must be walked one by one are walked this far back.
WALKED = timedelta(days=7)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def on_grid(name: bytes, interval_s: int, after: datetime) -> datetime:
    """Return the first moment later than `after` on the grid of this name, a whole second."""
    shift = zlib.crc32(name) % interval_s
    passed = (after - _EPOCH) // SECOND - shift
    return _EPOCH + timedelta(seconds=(passed // interval_s + 1) * interval_s + shift)


def next_slot(order: Check, after: datetime, *, failing: bool = False) -> datetime:
    """Return the check's first slot later than `after`, a whole second; `failing` is its newest result.

    A schedule whose slots all lie in quiet hours (actions refuse it) is followed as if there were none.
    """
    first = slot = _any_slot(order, after, failing)
    for _ in range(TRIES):
        end = quiet_until(order, slot)
        if end is None:
            return slot
        slot = _any_slot(order, max(slot, end - SECOND), failing)
    return first


def due_slots(order: Check, oldest: datetime, now: datetime) -> Sequence[int]:
    """Return all slots from `oldest`, which is one, to `now`, in seconds of the epoch, oldest first.

    Those of a plain interval are a range, however many; others are walked, the last week of them.
    """
    first, last = int(oldest.timestamp()), int(now.timestamp())
    if not order.cron and order.quiet_from is None:
        regular = int(_any_slot(order, oldest - SECOND, False).timestamp())
        if regular == first:
            return range(first, last + 1, order.interval_s)
    slots = [first]
    at = max(oldest, now - WALKED)
    while (at := next_slot(order, at)) <= now:
        slots.append(int(at.timestamp()))
    return slots


def goes_stale(order: Check, at: datetime) -> datetime:
    """Return when evidence taken at `at` no longer says what the lane is: two slots without any.

    Quiet hours hold it fresh: what is not asked is not missed.
    """
    aged = at + timedelta(seconds=STALE_AFTER * order.interval_s)
    if not order.cron and order.quiet_from is None:
        return aged
    slot = at
    for _ in range(STALE_AFTER):
        slot = next_slot(order, slot)
    return slot + LAG if order.cron else max(aged, slot + LAG)


def _any_slot(order: Check, after: datetime, failing: bool) -> datetime:
    name = b"lane %d" % order.lane_id
    if order.cron:
        shift = timedelta(seconds=zlib.crc32(name) % MINUTE)
        regular = next(cron_slots(order.cron, order.zone, after - shift)) + shift
    else:
        regular = on_grid(name, order.interval_s, after)
    if failing and order.retest_s:
        return min(regular, on_grid(name, order.retest_s, after))
    return regular
