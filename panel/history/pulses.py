"""Whether Preflight's own parts are at work, from the signs of life that they leave."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from panel.history.shapes_pulse import SilentZone, Sweep
from panel.models import Pulse

SILENT_AFTER: Final = timedelta(seconds=30)
_WORKER: Final = "worker:"


def sweep(now: datetime) -> Sweep:
    """Return when the sweep was last seen at work, and which part is silent: one query."""
    seen = dict(Pulse.objects.values_list("name", "at"))
    workers = {name.removeprefix(_WORKER): at for name, at in seen.items() if name.startswith(_WORKER)}
    zones = tuple(SilentZone(name, at) for name, at in sorted(workers.items()) if _is_old(at, now))
    at = seen.get("tick")
    silent = _is_old(at, now)
    return Sweep(at, silent, _part(seen, now, alive=len(workers) > len(zones)) if silent else "", zones)


def _part(seen: dict[str, datetime], now: datetime, *, alive: bool) -> str:
    if not alive:
        return "worker"
    return "clock" if _is_old(seen.get("beat"), now) else "sweep"


def _is_old(at: datetime | None, now: datetime) -> bool:
    """One that lies ahead is from before the clock was set back, and says nothing either."""
    return at is None or abs(now - at) > SILENT_AFTER
