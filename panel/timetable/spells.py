"""When a maintenance holds: once from start to end, or again and again by cron until its end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple

from panel.models import Maintenance
from panel.timetable.cron import cron_slots, last_before


class Spell(NamedTuple):
    """One stretch of maintenance, the end excluded."""

    since: datetime
    until: datetime


def spell_at(row: Maintenance, at: datetime) -> Spell | None:
    """Return the spell in which `at` lies, None outside of all."""
    ends_at = row.ends_at if row.ended_at is None else min(row.ends_at, row.ended_at)
    if not row.starts_at <= at < ends_at:
        return None
    if not row.cron:
        return Spell(row.starts_at, ends_at)
    since = last_before(row.cron, row.zone, at)
    if since is None or since < row.starts_at:
        return None
    until = min(since + timedelta(seconds=row.duration_s), ends_at)
    return Spell(since, until) if at < until else None


def next_spells(row: Maintenance, after: datetime, count: int) -> list[Spell]:
    """Return the next spells that begin later than `after`, at most `count`."""
    return list(islice(_spells(row, after), count))


def _spells(row: Maintenance, after: datetime) -> Iterator[Spell]:
    if row.ended_at is not None:
        return
    if not row.cron:
        if row.starts_at > after:
            yield Spell(row.starts_at, row.ends_at)
        return
    for since in cron_slots(row.cron, row.zone, max(after, row.starts_at - timedelta(seconds=1))):
        if since >= row.ends_at:
            return
        yield Spell(since, min(since + timedelta(seconds=row.duration_s), row.ends_at))
