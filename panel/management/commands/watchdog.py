"""`manage.py watchdog`: one look at whether Preflight still checks; for cron or systemd."""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from panel import health, watchdog
from panel.health.watchdog import ALARM_AFTER_S


class Command(BaseCommand):
    """Does what the web processes do by themselves, for who does not trust them to be there."""

    help = "Tell the teams' channels when the sweep is silent; end with 0 while it is not, else with 1."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How long a silence may be."""
        parser.add_argument("--patience", type=float, default=ALARM_AFTER_S, metavar="SECONDS")

    def handle(self, *args: object, patience: float, **options: object) -> None:
        """Look once."""
        quiet = health.quiet_for(timezone.now())
        watchdog.look(silent=quiet > patience)
        if quiet > patience:
            raise CommandError(f"No sweep for {quiet:.0f} seconds.")
