"""Evidence that grows old: a lane that nothing was heard of for two slots is unknown, until something is.

A page works the same out when it is read (`panel.history.lanes`); here it becomes a transition, from which
incidents are made.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from checks import Reason
from panel import timetable
from panel.ledger.states import maintained
from panel.models import Check, LaneState, Transition

UNKNOWN = "unknown"
AT_ONCE = 500
FIELDS = ("state", "since", "stale_at")


def call_unknown(now: datetime, *, limit: int = AT_ONCE) -> list[Transition]:
    """Call the lanes unknown whose evidence went stale, oldest first; return the transitions made.

    A lane that is paused or out of use is left as it is, one in maintenance gets until after it. Two at once
    do no harm: a lane that another holds is skipped.
    """
    with transaction.atomic():
        rows = (
            LaneState.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("lane__check_order")
            .filter(stale_at__lt=now)
            .order_by("stale_at", "pk")[:limit]
        )
        states = list(rows)
        transitions = [made for state in states if (made := _settle(state, now)) is not None]
        LaneState.objects.bulk_update(states, FIELDS)
        return Transition.objects.bulk_create(transitions)


def renew(lanes: Collection[int], now: datetime) -> None:
    """Let the evidence of these lanes count from now: they are looked at again, or otherwise than before."""
    orders = {order.lane_id: order for order in Check.objects.filter(lane__in=lanes)}
    known = (
        LaneState.objects.select_for_update(of=("self",)).exclude(evidence_at=None).filter(lane__in=orders)
    )
    states = list(known.order_by("lane_id"))
    for state in states:
        state.stale_at = timetable.goes_stale(orders[state.lane_id], now)
    LaneState.objects.bulk_update(states, ["stale_at"])


def _settle(state: LaneState, now: datetime) -> Transition | None:
    order, went = state.lane.check_order, state.stale_at
    state.stale_at = None
    if went is None or order.paused_at is not None or not state.lane.in_use:
        return None
    if maintained(state, now) and state.maintained_until is not None:
        state.stale_at = timetable.goes_stale(order, state.maintained_until)
        return None
    before, state.state, state.since = state.state, UNKNOWN, went
    if before == UNKNOWN:
        return None
    return Transition(lane_id=state.lane_id, at=went, before=before, after=UNKNOWN, reason=Reason.RUN_MISSED)
