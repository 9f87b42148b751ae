"""Client libraries in environments of their own, outside Preflight's: locks, names, installing, finding."""

from __future__ import annotations

from checks.clients.environments import CannotInstall
from checks.clients.libraries import (
    NAMES,
    Installed,
    Library,
    UnknownLibrary,
    available,
    install,
    installed,
    remove,
    requirement,
)

__all__ = [
    "NAMES",
    "CannotInstall",
    "Installed",
    "Library",
    "UnknownLibrary",
    "available",
    "install",
    "installed",
    "remove",
    "requirement",
]
