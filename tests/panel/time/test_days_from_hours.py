"""The days of an older database: what the migration makes of its hours and runs is what the ledger counts."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps

from panel.models import LaneDay
from tests import make
from tests.panel.time.outcomes import live

pytestmark = pytest.mark.django_db
FIELDS = (
    "day", "ok", "degraded", "down", "not_testable", "missed", "maintenance", "worst", "reasons", "tokens",
)  # fmt: skip


def days() -> list[tuple[object, ...]]:
    rows = LaneDay.objects.order_by("lane", "day")
    return [(row.lane_id, *(getattr(row, name) for name in FIELDS), bytes(row.latency)) for row in rows]


def test_days_made_of_hours_are_what_the_ledger_counted() -> None:
    for letters in ("oodgn" * 4, "ddd"):
        live(make.check(), letters, start=make.NOON, every=timedelta(hours=5))
    counted = days()
    LaneDay.objects.all().delete()
    import_module("panel.migrations.0013_days_from_hours").fill(apps, None)
    assert days() == counted
