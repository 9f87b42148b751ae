"""Whether the sweep has stopped, judged by a process that does not depend on it, and who is told of that.

Once an outage: it is named by the last sweep before it. What was told is told over when sweeps come again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from panel import notices
from panel.models import Notice, Pulse

ALARM_AFTER_S: Final = 120.0
"""Longer than a new version takes to come up."""


def quiet_for(now: datetime) -> float:
    """Return for how many seconds the sweep has given no sign, by the clock; 0 where there never was one."""
    at = _last_sweep()
    return abs((now - at).total_seconds()) if at else 0.0


class Watch:
    """Counts the silence that this process has heard itself: neither a machine that slept nor a clock that
    was set looks like one that was silent."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at: datetime | None = None
        self._since = 0.0

    def silent(self) -> bool:
        """Look at the last sweep; tell whether it has been the same one for too long."""
        at = _last_sweep()
        if at is None or at != self._at:
            self._at, self._since = at, self._clock()
        return at is not None and self._clock() - self._since >= ALARM_AFTER_S


def look(now: datetime, *, silent: bool) -> bool:
    """Plan, once an outage, the notices that it began or is over; tell whether notices wait that no worker
    will send."""
    at = _last_sweep()
    if silent and at is not None:
        since = at.isoformat()
        notices.plan_watchdog(f"silent:{since}", {"what": "silent", "since": since}, now)
        notices.settle_lost(now)
        return notices.waiting(now)
    told = (
        Notice.objects.filter(kind=Notice.Kind.WATCHDOG)
        .order_by("-pk")
        .values_list("data", flat=True)
        .first()
    )
    if told and told.get("what") == "silent":
        since = str(told["since"])
        notices.plan_watchdog(f"back:{since}", {"what": "back", "since": since}, now)
    return False


def _last_sweep() -> datetime | None:
    return Pulse.objects.filter(name="tick").values_list("at", flat=True).first()
