"""`manage.py add_user`: an account without an invitation, for an instance that cannot send any."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction

from panel.actions import Refused
from panel.actions.audit import record
from panel.actions.teams import make_account
from panel.models import User


class Command(BaseCommand):
    """Makes the account; a lead then adds it to a team, on the members page."""

    help = "Make an account that a lead can add to a team. The password is asked for, or read from stdin."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Who it is for."""
        parser.add_argument("email")
        parser.add_argument("--name", required=True, help="the name that colleagues see")

    def handle(self, *args: object, email: str, name: str, **options: object) -> None:
        """Make the account and its audit event, or say what is wrong."""
        try:
            validate_email(email)
        except ValidationError as error:
            raise CommandError(f"{email}: {error.messages[0]}") from error
        if User.objects.filter(email=email.strip().lower()).exists():
            raise CommandError(f"{email} has an account already.")
        try:
            with transaction.atomic():
                user = make_account(name=name, email=email, password=_password())
                record(team=None, actor=None, verb="create", noun="account", label=user.email)
        except Refused as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{user.email} can sign in.")


def _password() -> str:
    """Return what the person types, else the first line of stdin; never an argument, which others can see."""
    if sys.stdin.isatty():
        return getpass.getpass()
    return sys.stdin.readline().rstrip("\r\n")
