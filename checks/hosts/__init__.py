"""Other machines: hosts by SSH and the programs that run there, sent over stdin and gone afterwards."""

from __future__ import annotations

from checks.hosts.ground import Ground, GroundLost, Heard
from checks.hosts.local import LocalGround

__all__ = ["Ground", "GroundLost", "Heard", "LocalGround"]
