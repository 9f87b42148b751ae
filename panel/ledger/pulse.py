"""Says that a part of Preflight itself is at work."""

from __future__ import annotations

from datetime import datetime, timedelta

from panel.models import Pulse

BEAT = timedelta(seconds=10)


def beat(name: str, now: datetime) -> None:
    """Note that `name` ("tick", "worker") was seen at work; written at most every ten seconds."""
    newest = Pulse.objects.filter(name=name).values_list("at", flat=True).first()
    if newest is None or newest <= now - BEAT:
        Pulse.objects.bulk_create(
            [Pulse(name=name, at=now)], update_conflicts=True, unique_fields=["name"], update_fields=["at"]
        )
