"""Transitions into incidents, all in one transaction, one follower at a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from panel import notices
from panel.incidents.book import Book
from panel.incidents.changes import BROKEN, Change, overlooked, unfollowed
from panel.incidents.parents import explain
from panel.models import Incident, IncidentEntry, IncidentLane, Transition

AT_ONCE: Final = 2000
# Any constant: it names the advisory lock that puts two followers in order.
FOLLOW_LOCK: Final = 5_094_372


def follow(now: datetime, limit: int = AT_ONCE) -> None:
    """Make incidents of the transitions that nobody followed yet, oldest first, and plan who is told.

    One query where nothing changed; otherwise a number of queries that depends on how many incidents open,
    close or get worse, and not on how many lanes do.
    """
    if not Transition.objects.filter(followed=False).exists():
        return
    with transaction.atomic():
        _one_at_a_time()
        changes = unfollowed(limit)
        _take(changes, now)
        followed = [change.transition_id for change in changes if change.transition_id is not None]
        Transition.objects.filter(pk__in=followed).update(followed=True)


def catch_up(now: datetime, limit: int = AT_ONCE) -> None:
    """Mend what transitions do not tell: lanes that stayed broken when planned work ended, that became calm
    after flapping, that were taken out of use or deleted. Two queries where there is nothing."""
    if not _deserted().exists() and not overlooked(now, 1):
        return
    with transaction.atomic():
        _one_at_a_time()
        _take(overlooked(now, limit), now)
        _close_deserted(now)


def _take(changes: Sequence[Change], now: datetime) -> None:
    """Let the changes act on the incidents. What planned work explains opens none."""
    book = Book(changes)
    for change in changes:
        if not (change.covered and change.after in BROKEN):
            book.take(change)
    book.write()
    if book.moved:
        explain({change.team_id for change in changes})
    for incident, kind, at in book.told:
        # What comes late is planned for now: nobody waits for a time that is over.
        notices.plan(incident, kind, max(at, now))


def _deserted() -> QuerySet[Incident]:
    """The open incidents in which no lane is left: it was deleted."""
    parts = IncidentLane.objects.filter(incident=OuterRef("pk"), recovered_at__isnull=True)
    return Incident.objects.filter(closed_at__isnull=True).exclude(Exists(parts))


def _close_deserted(now: datetime) -> None:
    for incident in _deserted():
        incident.closed_at = now
        incident.save(update_fields=["closed_at"])
        IncidentEntry.objects.create(incident=incident, at=now, kind=IncidentEntry.Kind.CLOSED)


def _one_at_a_time() -> None:
    """On PostgreSQL take a lock that ends with the transaction; SQLite has one writer anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FOLLOW_LOCK])
