"""Walks the chain of audit events and says whether it holds."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from panel.actions.audit import broken_link


class Command(BaseCommand):
    """`manage.py verify_audit`: exit code 1 and the event's number where the chain is broken."""

    help = "Check that no audit event was changed or taken out."

    def handle(self, *args: Any, **options: Any) -> None:
        """Compare every event's hash with what it should be."""
        broken = broken_link()
        if broken is not None:
            raise CommandError(
                f"Event {broken.pk} of {broken.at.isoformat()} does not follow from the one before."
            )
        self.stdout.write("The chain of audit events holds.")
