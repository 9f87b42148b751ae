"""`manage.py clients`: installs, lists and removes the client libraries of the third rung."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from django.core.management.base import BaseCommand, CommandError

from checks.clients import (
    NAMES,
    CannotInstall,
    Library,
    UnknownLibrary,
    install,
    installed,
    remove,
    requirement,
)
from panel.client_environments import folder


class Command(BaseCommand):
    """Keeps each library in an environment of its own, never in Preflight's."""

    requires_system_checks = ()  # it touches nothing that they look at
    help = (
        f"Install, list or remove client libraries: {', '.join(NAMES)}, each beside Preflight's environment."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to do, and with which libraries."""
        parser.add_argument("deed", choices=("install", "list", "remove"))
        parser.add_argument(
            "libraries",
            nargs="*",
            metavar="NAME[==VERSION]",
            help="without a version the newest that this Preflight knows, locked by hashes",
        )

    def handle(self, *args: object, deed: str, libraries: list[str], **options: object) -> None:
        """Do it, or say in words what is wrong."""
        try:
            wanted = [requirement(text) for text in libraries]
        except UnknownLibrary as error:
            raise CommandError(str(error)) from error
        try:
            {"install": self._install, "list": self._list, "remove": self._remove}[deed](wanted)
        except CannotInstall as error:
            raise CommandError(str(error)) from error

    def _install(self, wanted: Sequence[Library]) -> None:
        for library in wanted or [requirement(name) for name in NAMES]:
            self.stdout.write(f"{library}: installing …")
            self.stdout.flush()
            found = install(folder(), library)
            self.stdout.write(f"{library}: installed, {len(found.packages)} packages in {found.folder}")

    def _list(self, wanted: Sequence[Library]) -> None:
        found = [one for one in installed(folder()) if not wanted or one.library in wanted]
        if not found:
            self.stdout.write("No client library is installed. Install them with: manage.py clients install")
        for one in found:
            state = "" if one.is_current else "  (made by another Preflight or Python; install it again)"
            self.stdout.write(f"{one.library}{state}")

    def _remove(self, wanted: Sequence[Library]) -> None:
        if not wanted:
            raise CommandError("Name what to remove, as clients list shows it.")
        for library in wanted:
            if not remove(folder(), library):
                raise CommandError(f"{library} is not installed.")
            self.stdout.write(f"{library}: removed")
