"""`manage.py setup_link`: the one-time link that makes the first owner."""

from __future__ import annotations

from argparse import ArgumentParser

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from django.utils import timezone

from panel.actions import teams


class Command(BaseCommand):
    """Prints a fresh link; links printed before end with it."""

    help = "Print the one-time link that makes the first owner; earlier links stop working."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where people reach the panel."""
        parser.add_argument(
            "--url", default=_own_address(), help="where people reach the panel (%(default)s)"
        )

    def handle(self, *args: object, url: str, **options: object) -> None:
        """Print the link; refuse when somebody has an account already."""
        token = teams.make_setup_link(now=timezone.now())
        if token is None:
            raise CommandError("There is an owner already. Ask them for an invitation.")
        self.stdout.write(url.rstrip("/") + reverse("setup", args=[token]))


def _own_address() -> str:
    """Return the panel's address as far as the settings tell it."""
    named = [name for name in settings.ALLOWED_HOSTS if not name.startswith((".", "*"))]
    if settings.BEHIND_TLS and named:
        return f"https://{named[0]}"
    return "http://127.0.0.1:8000"
