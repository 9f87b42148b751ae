"""Reckons with time alone: slots by interval or cron, quiet hours, spells of maintenance; no query."""

from __future__ import annotations

from panel.timetable.cron import CronRefused, cron_slots, judge_cron, last_before
from panel.timetable.quiet import quiet_until
from panel.timetable.slots import STALE_AFTER, due_slots, goes_stale, next_slot, on_grid
from panel.timetable.spells import Spell, next_spells, spell_at

__all__ = [
    "STALE_AFTER",
    "CronRefused",
    "Spell",
    "cron_slots",
    "due_slots",
    "goes_stale",
    "judge_cron",
    "last_before",
    "next_slot",
    "next_spells",
    "on_grid",
    "quiet_until",
    "spell_at",
]
