"""What people do to their own accounts."""

from __future__ import annotations

from django.db import transaction

from panel.actions.audit import record
from panel.models import User


@transaction.atomic
def change_me(*, user: User, name: str, language: str, zone: str) -> None:
    """Change how a person is called, and in which language and zone they read; empty lets the browser
    and the instance decide."""
    user.name, user.language, user.zone = name.strip(), language, zone
    user.save(update_fields=["name", "language", "zone"])
    record(team=None, actor=user, verb="change", noun="person", label=user.name)
