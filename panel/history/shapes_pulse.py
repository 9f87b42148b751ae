"""What pages say of Preflight's own parts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class SilentZone:
    """A zone from which something is checked, and no worker of which was seen since `since`."""

    name: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Sweep:
    """When the sweep that starts runs was last seen; `silent` when that is too long ago or never.

    `part` names what is silent then: "worker" (all of them), "clock" (no worker carries one that runs) or
    "sweep" (both are there, and yet it does not get through); else it is empty. `zones` are those whose
    workers are silent, all of them where `part` is "worker".
    """

    at: datetime | None
    silent: bool
    part: str = ""
    zones: tuple[SilentZone, ...] = ()

    @property
    def well(self) -> bool:
        """Whether all parts are at work."""
        return not self.silent and not self.zones
