"""All that touches runs: open, start, close, miss, roll up, prune."""

from __future__ import annotations

from panel.ledger.balances import begin_balance, tell_balance
from panel.ledger.closing import close_many
from panel.ledger.opening import Opening, miss_overdue, open_manual, open_slots, start
from panel.ledger.pruning import prune
from panel.ledger.pulse import beat

__all__ = [
    "Opening",
    "beat",
    "begin_balance",
    "close_many",
    "miss_overdue",
    "open_manual",
    "open_slots",
    "prune",
    "start",
    "tell_balance",
]
