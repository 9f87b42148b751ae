"""`manage.py master_key`: a new entry for PREFLIGHT_MASTER_KEYS."""

from __future__ import annotations

import base64
import secrets

from django.core.management.base import BaseCommand
from django.utils import timezone

from panel.variables import MASTER_KEY_BYTES


class Command(BaseCommand):
    """Prints a key; it stores nothing."""

    help = "Print a new master key. Put it first in PREFLIGHT_MASTER_KEYS, then run: manage.py rewrap"
    requires_system_checks = ()  # it must run before the settings are complete

    def handle(self, *args: object, **options: object) -> None:
        """Print "<id>:<base64 of 32 random bytes>"; the id is the day and four random digits."""
        name = f"{timezone.now():%Y%m%d}-{secrets.token_hex(2)}"
        self.stdout.write(f"{name}:{base64.b64encode(secrets.token_bytes(MASTER_KEY_BYTES)).decode()}")
