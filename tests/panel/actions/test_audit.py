"""The chain of what people did: written with the deed, never changed."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.db import DatabaseError, connection, transaction

from panel.actions.audit import broken_link, record
from panel.models import AuditEvent
from tests import make

pytestmark = pytest.mark.django_db


def three_events() -> list[AuditEvent]:
    member = make.member()
    return [
        record(team=member.team, actor=member.user, verb="create", noun="endpoint", label=f"number {n}")
        for n in range(3)
    ]


def guard_against_deletion() -> None:
    """Put back what tests/conftest.py takes away from SQLite."""
    if connection.vendor == "sqlite":
        migration = import_module("panel.migrations.0002_audit_is_append_only")
        with connection.cursor() as cursor:
            cursor.execute(migration.SQLITE_DELETE)


def test_an_untouched_chain_holds() -> None:
    three_events()
    assert broken_link() is None


def test_every_event_hangs_on_the_one_before() -> None:
    assert len({event.chain for event in three_events()}) == 3


@pytest.mark.parametrize(
    "statement", ["UPDATE panel_auditevent SET verb = 'x'", "DELETE FROM panel_auditevent"]
)
def test_the_database_refuses_to_change_the_past(statement: str) -> None:
    three_events()
    guard_against_deletion()
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


def test_an_event_that_was_altered_in_spite_of_all_is_found() -> None:
    middle = three_events()[1]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = replica")  # no trigger fires
        else:
            cursor.execute("DROP TRIGGER panel_audit_no_update")
        cursor.execute("UPDATE panel_auditevent SET label = 'something else' WHERE id = %s", [middle.pk])
    assert broken_link() == middle


def test_an_event_outside_a_transaction_is_refused(transactional_db) -> None:
    with pytest.raises(transaction.TransactionManagementError):
        record(team=None, actor=None, verb="create", noun="endpoint")


@transaction.atomic
def a_deed_that_fails() -> None:
    member = make.member()
    record(team=member.team, actor=member.user, verb="create", noun="endpoint")
    raise ZeroDivisionError


def test_a_deed_that_fails_leaves_no_event() -> None:
    with pytest.raises(ZeroDivisionError):
        a_deed_that_fails()
    assert not AuditEvent.objects.filter(noun="endpoint").exists()
