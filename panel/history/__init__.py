"""Reads what the ledger wrote: a fixed number of queries a page, shapes without rows."""

from __future__ import annotations

from panel.history.shapes import (
    KINDS,
    WORST_FIRST,
    BoardRow,
    Cell,
    Changed,
    EvidenceView,
    Finding,
    Happened,
    LaneNow,
    LanePage,
    Overview,
    Point,
    RungView,
    RunView,
    StepView,
    Strip,
    Sweep,
)

__all__ = [
    "KINDS",
    "WORST_FIRST",
    "BoardRow",
    "Cell",
    "Changed",
    "EvidenceView",
    "Finding",
    "Happened",
    "LaneNow",
    "LanePage",
    "Overview",
    "Point",
    "RunView",
    "RungView",
    "StepView",
    "Strip",
    "Sweep",
]
