"""The rows of the panel: columns, constraints, indexes and tiny pure properties, nothing more."""

from panel.models import lookups  # noqa: F401 - importing it registers them
from panel.models.audit import AuditEvent, Download
from panel.models.checks import (
    Check,
    LaneDay,
    LaneHour,
    LaneState,
    Leftover,
    Pulse,
    Run,
    RunOutput,
    RunSteps,
    Transition,
)
from panel.models.endpoints import BalanceTold, Endpoint, KeyVersion
from panel.models.hosts import Host, HostReading, Recipe
from panel.models.incidents import Incident, IncidentEntry, IncidentLane
from panel.models.notices import Channel, Notice, Route
from panel.models.profiles import Lane, Profile, ProfileVersion
from panel.models.reports import Report, ReportSchedule
from panel.models.teams import Invitation, Membership, Role, Team, User
from panel.models.time import Maintenance

__all__ = [
    "AuditEvent",
    "BalanceTold",
    "Channel",
    "Check",
    "Download",
    "Endpoint",
    "Host",
    "HostReading",
    "Incident",
    "IncidentEntry",
    "IncidentLane",
    "Invitation",
    "KeyVersion",
    "Lane",
    "LaneDay",
    "LaneHour",
    "LaneState",
    "Leftover",
    "Maintenance",
    "Membership",
    "Notice",
    "Profile",
    "ProfileVersion",
    "Pulse",
    "Recipe",
    "Report",
    "ReportSchedule",
    "Role",
    "Route",
    "Run",
    "RunOutput",
    "RunSteps",
    "Team",
    "Transition",
    "User",
]
