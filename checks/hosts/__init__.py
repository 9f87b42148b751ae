"""Other machines: hosts by SSH and the programs that run there, sent over stdin and gone afterwards.

What speaks SSH is imported when it is first used, so that a web process which only names hosts does not
pay for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from checks.hosts.fingerprint import fingerprint_of
from checks.hosts.ground import Ground, GroundLost, Heard
from checks.hosts.local import LocalGround

if TYPE_CHECKING:
    from checks.hosts.keypairs import KeyPair, KeyPairRefused, make_key_pair, read_host_key, read_key_pair
    from checks.hosts.login import offered_key
    from checks.hosts.session import ssh_ground

_ON_FIRST_USE: Final = {
    "KeyPair": "checks.hosts.keypairs",
    "KeyPairRefused": "checks.hosts.keypairs",
    "make_key_pair": "checks.hosts.keypairs",
    "offered_key": "checks.hosts.login",
    "read_host_key": "checks.hosts.keypairs",
    "read_key_pair": "checks.hosts.keypairs",
    "ssh_ground": "checks.hosts.session",
}

__all__ = [
    "Ground",
    "GroundLost",
    "Heard",
    "KeyPair",
    "KeyPairRefused",
    "LocalGround",
    "fingerprint_of",
    "make_key_pair",
    "offered_key",
    "read_host_key",
    "read_key_pair",
    "ssh_ground",
]


def __getattr__(name: str) -> object:
    """Import what speaks SSH. Raises AttributeError for a name this room does not have."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ON_FIRST_USE[name]), name)
