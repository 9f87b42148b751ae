"""Brings the next slot of a failing lane forward, so that down and up again are confirmed sooner."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from panel import timetable
from panel.models import Check, Run


def bring_forward(newest: Collection[Run], now: datetime) -> None:
    """Move the next slots of those checks whose newest run failed and that are retested faster: no query for
    none, else one to look and one to move.

    A check that is just being claimed is left alone: its claim sees the failure at its next slot.
    """
    failing = [run.check_order_id for run in newest if run.status == "down" and run.check_order.retest_s]
    if not failing:
        return
    held = Check.objects.select_for_update(skip_locked=True).filter(pk__in=failing, next_run_at__gt=now)
    moved = []
    for order in held.order_by("pk"):
        sooner = timetable.next_slot(order, now, failing=True)
        if order.next_run_at is not None and sooner < order.next_run_at:
            order.next_run_at = sooner
            moved.append(order)
    Check.objects.bulk_update(moved, ["next_run_at"])
