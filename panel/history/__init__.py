"""Reads what the ledger wrote: a fixed number of queries a page, shapes without rows."""

from __future__ import annotations

from panel.history.lane import lane_page
from panel.history.overview import newest_change, overview, sweep
from panel.history.run import offered_base_url, run_view
from panel.history.shapes import (
    KINDS,
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
from panel.history.strips import RANGES
from panel.rollups import WORST_FIRST

__all__ = [
    "KINDS",
    "RANGES",
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
    "lane_page",
    "newest_change",
    "offered_base_url",
    "overview",
    "run_view",
    "sweep",
]
