"""Quiet hours: local times of a zone between which no slot is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from panel.models import Check


def quiet_until(order: Check, at: datetime) -> datetime | None:
    """Return when the quiet hours end in which `at` lies, in UTC; None outside of them.

    They may run over midnight, and end exclusively. None where the check has none, or both ends are equal.
    """
    begin, end = order.quiet_from, order.quiet_to
    if begin is None or end is None or begin == end:
        return None
    zone = ZoneInfo(order.zone)
    local = at.astimezone(zone)
    time = local.time()
    over_midnight = begin > end
    if not (begin <= time or time < end if over_midnight else begin <= time < end):
        return None
    day = local.date() + timedelta(days=1 if over_midnight and time >= begin else 0)
    ending = datetime.combine(day, end, zone).astimezone(UTC)
    # The hour that comes twice: this is the second time, so it ends the second time.
    return ending if ending > at else datetime.combine(day, end.replace(fold=1), zone).astimezone(UTC)
