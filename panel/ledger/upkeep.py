"""Lanes in maintenance: what a person said, written beside each lane's state for those who read that."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Q

from panel.models import LaneState
from panel.timetable import Spell


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
