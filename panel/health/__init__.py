"""Whether Preflight itself is well: what its parts leave behind, what waits for them, and who is told."""

from __future__ import annotations

from panel.health.calls import call_home, call_is_due
from panel.health.disk import is_full
from panel.health.exposition import CONTENT_TYPE, metrics
from panel.health.pulses import swept
from panel.health.watchdog import Watch, look, quiet_for

__all__ = [
    "CONTENT_TYPE",
    "Watch",
    "call_home",
    "call_is_due",
    "is_full",
    "look",
    "metrics",
    "quiet_for",
    "swept",
]
