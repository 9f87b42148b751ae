"""Where this instance keeps client libraries: environments of their own under the data folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from checks import clients
from checks.spec import ClientSpec


def folder() -> Path:
    """Return the folder of all environments; it need not be there."""
    return Path(settings.DATA_DIR) / "clients"


def available(names: Iterable[str]) -> tuple[ClientSpec, ...]:
    """Return the libraries of a recipe's `clients` with their interpreters, the newest installed ones for
    none; see `checks.clients.available`."""
    return clients.available(folder(), names)
