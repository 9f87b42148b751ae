"""Reads what the ledger wrote: a fixed number of queries a page, shapes without rows."""

from __future__ import annotations

from panel.history.export import Form, Rows, columns, lines
from panel.history.hosts import host_page, hosts_page
from panel.history.incidents import incident_page, incidents_page, open_incidents
from panel.history.lane import lane_page
from panel.history.overview import overview
from panel.history.places import compare
from panel.history.pulses import sweep
from panel.history.run import offered_base_url, run_output, run_view
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
    RungView,
    RunView,
    StepView,
    Strip,
)
from panel.history.shapes_hosts import (
    Comparison,
    FitView,
    Hop,
    HostFinding,
    HostPage,
    HostRow,
    LeftoverView,
    OutputPiece,
    PlaceView,
    ReadingRow,
    RecipeRow,
)
from panel.history.shapes_incidents import (
    EntryView,
    IncidentList,
    IncidentMark,
    IncidentPage,
    IncidentRow,
    KeyView,
    OpenIncidents,
    SpanRow,
    TouchedLane,
)
from panel.history.shapes_past import Heat, HeatCell, Percentiles, Point, RunList, RunRow
from panel.history.shapes_pulse import SilentZone, Sweep
from panel.history.standing import newest_change
from panel.history.strips import RANGES
from panel.rollups import WORST_FIRST

__all__ = [
    "KINDS",
    "RANGES",
    "WORST_FIRST",
    "BoardRow",
    "Cell",
    "Changed",
    "Comparison",
    "EntryView",
    "EvidenceView",
    "Finding",
    "FitView",
    "Form",
    "Happened",
    "Heat",
    "HeatCell",
    "Hop",
    "HostFinding",
    "HostPage",
    "HostRow",
    "IncidentList",
    "IncidentMark",
    "IncidentPage",
    "IncidentRow",
    "KeyView",
    "LaneNow",
    "LanePage",
    "LeftoverView",
    "OpenIncidents",
    "OutputPiece",
    "Overview",
    "Percentiles",
    "PlaceView",
    "Point",
    "ReadingRow",
    "RecipeRow",
    "Rows",
    "RunList",
    "RunRow",
    "RunView",
    "RungView",
    "SilentZone",
    "SpanRow",
    "StepView",
    "Strip",
    "Sweep",
    "TouchedLane",
    "columns",
    "compare",
    "host_page",
    "hosts_page",
    "incident_page",
    "incidents_page",
    "lane_page",
    "lines",
    "newest_change",
    "offered_base_url",
    "open_incidents",
    "overview",
    "run_output",
    "run_view",
    "sweep",
]
