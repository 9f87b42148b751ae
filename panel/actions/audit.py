"""Writes the append-only chain of what people did."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

from django.db import connection, transaction

from panel.models import AuditEvent, Team, User

# Any constant: it names the advisory lock that puts two writers of the chain in order.
CHAIN_LOCK = 5_094_371


def record(
    *,
    team: Team | None,
    actor: User | None,
    verb: str,
    noun: str,
    code: str = "",
    label: str = "",
    **data: object,
) -> AuditEvent:
    """Append one event, inside the caller's transaction. `data` must hold no secret."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("An event is written with its deed or not at all.")
    _one_writer_at_a_time()
    newest = AuditEvent.objects.order_by("-pk").values_list("chain", flat=True).first() or ""
    event = AuditEvent(
        team=team,
        actor=actor,
        at=datetime.now(UTC),
        verb=verb,
        noun=noun,
        code=code,
        label=label[:200],
        data=data,
    )
    event.chain = link(newest, event)
    event.save(force_insert=True)
    return event


def link(previous: str, event: AuditEvent) -> str:
    """Return the SHA-256 that ties this event to the one before it."""
    fields = [
        previous,
        event.team_id,
        event.actor_id,
        event.at.astimezone(UTC).isoformat(),
        event.verb,
        event.noun,
        event.code,
        event.label,
        event.data,
    ]
    return hashlib.sha256(json.dumps(fields, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def broken_link() -> AuditEvent | None:
    """Walk the whole chain; return the first event that does not follow from the one before it."""
    previous = ""
    for event in AuditEvent.objects.order_by("pk").iterator(chunk_size=1000):
        if event.chain != link(previous, event):
            return event
        previous = event.chain
    return None


def _one_writer_at_a_time() -> None:
    """On PostgreSQL take a lock that ends with the transaction; SQLite has one writer anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CHAIN_LOCK])
