"""What people take away of the past: a record, then the lines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db import transaction

from panel import history
from panel.actions.audit import record
from panel.history import Form, Rows
from panel.models import Membership, Profile


def export(
    *,
    actor: Membership,
    rows: Rows,
    form: Form,
    since: datetime,
    until: datetime,
    profile: Profile | None = None,
    kind: str = "",
) -> Iterator[str]:
    """Record that the member takes the history away, and return its pieces, read as they are sent."""
    with transaction.atomic():
        record(
            team=actor.team,
            actor=actor.user,
            verb="export",
            noun="history",
            code=profile.code if profile else "",
            label=profile.name if profile else actor.team.name,
            rows=str(rows),
            form=str(form),
            lane=kind,
            since=since.isoformat(timespec="seconds"),
            until=until.isoformat(timespec="seconds"),
        )
    code = profile.code if profile else ""
    return history.lines(actor.team, rows, form, since, until, profile=code, kind=kind)
