"""Lanes that people stopped: what they said, written beside each lane's state and into its half hours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from panel import rollups
from panel.ledger.hours import MAINTENANCE, HourBook, hour_of, lock_states
from panel.models import Lane, LaneHour, LaneState
from panel.timetable import Spell

PAUSED = "paused"
MARKED_AT_ONCE = 500


def keep_maintained(spells: Mapping[int, Spell], now: datetime) -> None:
    """Make these lanes those in maintenance, each for its spell, and no others: one query where nothing
    changed."""
    held = LaneState.objects.filter(Q(lane__in=spells) | Q(maintained_until__gt=now))
    changed = []
    for state in held.only("pk", "lane_id", "maintained_since", "maintained_until"):
        spell = spells.get(state.lane_id)
        said = (state.maintained_since, state.maintained_until)
        if spell is None:  # ended early, or the lane no longer belongs to what is maintained
            state.maintained_until = now
        elif said != spell:
            state.maintained_since, state.maintained_until = spell
        if said != (state.maintained_since, state.maintained_until):
            changed.append(state)
    LaneState.objects.bulk_update(changed, ["maintained_since", "maintained_until"])


def mark_stopped(now: datetime, *, limit: int = MARKED_AT_ONCE) -> None:
    """Write into the half hour under way which lanes are paused or in maintenance, where nothing stands yet,
    so that the past shows it though nothing ran: two queries where all stands."""
    half = "worst_first" if now.minute < 30 else "worst_second"
    told = LaneHour.objects.filter(lane=OuterRef("pk"), hour=hour_of(now)).exclude(**{half: ""})
    lanes = Lane.objects.filter(~Exists(told), in_use=True)
    maintained = lanes.filter(now__maintained_since__lte=now, now__maintained_until__gt=now)
    words = dict.fromkeys(maintained.values_list("pk", flat=True)[:limit], MAINTENANCE)
    paused = lanes.filter(check_order__paused_at__isnull=False)
    words |= dict.fromkeys(paused.values_list("pk", flat=True)[:limit], PAUSED)
    if not words:
        return
    with transaction.atomic():
        lock_states(words)
        book = HourBook(words, {hour_of(now)})
        for lane, word in words.items():
            row = book.row(lane, hour_of(now))
            setattr(row, half, rollups.worst((getattr(row, half), word)))
        book.save()
