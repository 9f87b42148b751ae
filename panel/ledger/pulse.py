"""Says that a part of Preflight itself is at work."""

from __future__ import annotations

from datetime import datetime, timedelta

from panel.models import Pulse

BEAT = timedelta(seconds=10)
SET_BACK = timedelta(minutes=5)
"""More than the clocks of two workers differ by."""


def beat(name: str, now: datetime, *, every: timedelta = BEAT) -> bool:
    """Note that `name` ("tick", "beat", "worker:<zone>") was seen at work, at most once in `every`; tell
    whether it was noted. One that lies ahead, since the clock was set back, is written over."""
    newest = Pulse.objects.filter(name=name).values_list("at", flat=True).first()
    if newest is None:
        return bool(Pulse.objects.bulk_create([Pulse(name=name, at=now)], ignore_conflicts=True))
    if abs(now - newest) < every:
        return False
    # Of two that come at once only one finds what it has read.
    return bool(Pulse.objects.filter(name=name, at=newest).update(at=now))


def was_set_back(now: datetime) -> bool:
    """Tell whether the last sweep lies ahead of `now`: the clock was set back since."""
    newest = Pulse.objects.filter(name="tick").values_list("at", flat=True).first()
    return newest is not None and newest > now + SET_BACK
