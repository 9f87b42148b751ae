"""`manage.py healthy`: whether the web server of this machine answers; for a container's health check."""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from panel.supervisor import doors


class Command(BaseCommand):
    """Asks the page that every instance has; it opens no database of its own."""

    help = "End with 0 when the web server here answers and reaches its database, else with 1."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to ask."""
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--patience", type=float, default=8.0, metavar="SECONDS")

    def handle(self, *args: object, port: int, patience: float, **options: object) -> None:
        """Ask once; the first page of a new process takes its time on a busy machine."""
        if doors.answering("127.0.0.1", port, doors.accepted_host(), patience_s=patience) is None:
            raise CommandError(f"Nobody answers in good health on port {port}.")
