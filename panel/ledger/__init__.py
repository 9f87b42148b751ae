"""All that touches runs and readings: open, start, close, miss, roll up, prune."""

from __future__ import annotations

from panel.ledger.balances import begin_balance, tell_balance
from panel.ledger.closing import close_many
from panel.ledger.deep import HOLD_S, Notebook, hold, start_deep
from panel.ledger.freshness import call_unknown, renew
from panel.ledger.leftovers import claim_leftovers, settle_leftover
from panel.ledger.opening import SHALLOW, Opening, climbing_high, open_deep, open_manual, open_slots, start
from panel.ledger.overdue import miss_overdue
from panel.ledger.pruning import prune
from panel.ledger.pulse import beat, was_set_back
from panel.ledger.readings import (
    ReadingOpening,
    close_reading,
    forget_host_key,
    miss_overdue_readings,
    open_reading,
    open_readings,
    start_reading,
    tell_offered,
)
from panel.ledger.setback import set_back
from panel.ledger.upkeep import keep_maintained, mark_stopped

__all__ = [
    "HOLD_S",
    "SHALLOW",
    "Notebook",
    "Opening",
    "ReadingOpening",
    "beat",
    "begin_balance",
    "call_unknown",
    "claim_leftovers",
    "climbing_high",
    "close_many",
    "close_reading",
    "forget_host_key",
    "hold",
    "keep_maintained",
    "mark_stopped",
    "miss_overdue",
    "miss_overdue_readings",
    "open_deep",
    "open_manual",
    "open_reading",
    "open_readings",
    "open_slots",
    "prune",
    "renew",
    "set_back",
    "settle_leftover",
    "start",
    "start_deep",
    "start_reading",
    "tell_balance",
    "tell_offered",
    "was_set_back",
]
