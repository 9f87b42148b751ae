"""Other machines: hosts by SSH and the programs that run there, sent over stdin and gone afterwards."""

from __future__ import annotations

from checks.hosts.ground import Ground, GroundLost, Heard
from checks.hosts.local import LocalGround
from checks.hosts.login import offered_key
from checks.hosts.session import ssh_ground
from checks.hosts.trust import fingerprint_of

__all__ = ["Ground", "GroundLost", "Heard", "LocalGround", "fingerprint_of", "offered_key", "ssh_ground"]
