"""Runs whose worker fell silent or never came: put back, or missed.

A plain climb is worth another try. A deep one is not: what it had begun elsewhere is tidied up first
(`panel.ledger.leftovers`), and its own steps stay as they were told.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from checks import Reason
from panel.ledger.hours import count_missed, hour_of
from panel.ledger.leftovers import DRY, leave_to_the_sweep
from panel.ledger.opening import OPEN, QUEUE_LEASE, SHALLOW
from panel.models import LaneState, Run

SENDINGS = 2
OVERDUE_AT_ONCE = 1000
# A deep run waits this long for its turn at the host; after that its lane's next one tells more.
DEEP_WAITS = timedelta(hours=1)


def miss_overdue(now: datetime) -> list[Run]:
    """Settle the runs whose lease ran out; return those put back into the queue, to be sent again.

    A run is sent twice at most, and only while its slot is younger than its check's interval: after
    that the next slot tells more. A deep run is sent again as long as it only waits, and never once it was
    started. The others are missed, which says nothing of the lane.
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


def _worth_another(run: Run, now: datetime) -> bool:
    if run.top_rung > SHALLOW:
        return run.state == Run.State.QUEUED and now - run.slot < DEEP_WAITS
    return run.attempts < SENDINGS and now - run.slot < timedelta(seconds=run.check_order.interval_s)


def _put_back(runs: list[Run], now: datetime) -> None:
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(
        state=Run.State.QUEUED, attempts=F("attempts") + 1, started_at=None, lease_until=now + QUEUE_LEASE
    )


def _give_up(runs: list[Run], now: datetime) -> None:
    if not runs:
        return
    cut_short = [run for run in runs if run.state == Run.State.RUNNING and run.top_rung >= DRY]
    for each, reason in ((cut_short, Reason.DRY_RUN_INTERRUPTED), (runs, Reason.RUN_MISSED)):
        Run.objects.filter(pk__in=[run.pk for run in each], state__in=OPEN).update(
            state=Run.State.MISSED, reason=reason, finished_at=now, lease_until=None
        )
    deep = [run for run in runs if run.state == Run.State.RUNNING and run.top_rung > SHALLOW]
    if deep:  # tried: the upper rungs are due again after their interval, not at the next slot
        lanes = [run.check_order.lane_id for run in deep]
        LaneState.objects.filter(lane__in=lanes).update(upper_at=now)
        leave_to_the_sweep(deep, now)
    count_missed([(run.check_order.lane_id, hour_of(run.slot), 1) for run in runs])
