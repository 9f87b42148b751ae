"""Makes the demo team, and prints how to sign in."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from panel.management.demo_team import PEOPLE, make_team, read_or_make_plan


class Command(BaseCommand):
    """`manage.py demo`: a team fed by scripted servers; `manage.py up --demo` runs both."""

    help = "Make the demo team and print how to sign in to it."

    def handle(self, *args: Any, **options: Any) -> None:
        """Make what is missing. The password is new at each start and kept nowhere."""
        password = secrets.token_urlsafe(9)
        make_team(read_or_make_plan(settings.DATA_DIR), password, datetime.now(UTC))
        for name, email, role in PEOPLE:
            self.stdout.write(f"demo: {name} ({role.name.lower()}) signs in as {email}, password {password}")
