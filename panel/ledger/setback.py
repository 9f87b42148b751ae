"""What the rows say of a time that has not come, because the clock was set back."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from django.db import transaction

from panel.ledger.freshness import renew
from panel.ledger.hours import count_missed, hour_of
from panel.ledger.opening import OPEN, QUEUE_LEASE
from panel.models import LaneHour, LaneState, Run

MOMENTS = ("evidence_at", "contract_at", "upper_at")


@transaction.atomic
def set_back(now: datetime) -> None:
    """Take back what was written of the time after `now`: slots called missed, which are yet to come, and
    evidence, which would be young for too long. What was really run stays: no slot is run twice."""
    _take_back_missed(now)
    for field in MOMENTS:
        LaneState.objects.filter(**{f"{field}__gt": now}).update(**{field: now})
    renew(list(LaneState.objects.filter(stale_at__gt=now).values_list("lane_id", flat=True)), now)
    lease = now + QUEUE_LEASE
    Run.objects.filter(state__in=OPEN, lease_until__gt=lease).update(lease_until=lease)


def _take_back_missed(now: datetime) -> None:
    future = Run.objects.filter(state=Run.State.MISSED, slot__gt=now)
    this_hour = hour_of(now)
    counts: Counter[tuple[int, datetime]] = Counter()
    for lane, slot in future.values_list("check_order__lane", "slot"):
        if hour_of(slot) == this_hour:
            counts[lane, this_hour] += 1
    # Of the hours that follow all was counted too early, also what has no row of its own.
    for lane, hour, missed in LaneHour.objects.filter(hour__gt=this_hour, missed__gt=0).values_list(
        "lane", "hour", "missed"
    ):
        counts[lane, hour] = missed
    count_missed([(lane, hour, -number) for (lane, hour), number in counts.items()])
    future.delete()
