"""`manage.py rewrap`: every team's data key under the newest master key."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from panel import vault
from panel.models import Team


class Command(BaseCommand):
    """Rewraps in one transaction: all teams or none."""

    help = "Wrap every team's data key with the first key of PREFLIGHT_MASTER_KEYS; then older ones can go."

    @transaction.atomic
    def handle(self, *args: object, **options: object) -> None:
        """Say how many teams changed; a team whose key is not in the ring stops it, changing nothing."""
        changed = 0
        for team in Team.objects.select_for_update().order_by("pk"):
            try:
                fresh = vault.rewrap(team)
            except vault.SealBroken as error:
                raise CommandError(f"Team {team.slug}: {error}") from error
            if fresh:
                team.save(update_fields=["sealed_data_key"])
                changed += 1
        self.stdout.write(f"Rewrapped {changed} of {Team.objects.count()} teams.")
