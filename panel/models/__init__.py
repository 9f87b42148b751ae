"""The rows of the panel: columns, constraints, indexes and tiny pure properties, nothing more."""

from panel.models.audit import AuditEvent, Download
from panel.models.checks import (
    Check,
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
from panel.models.profiles import Lane, Profile, ProfileVersion
from panel.models.teams import Invitation, Membership, Role, Team, User

__all__ = [
    "AuditEvent",
    "BalanceTold",
    "Check",
    "Download",
    "Endpoint",
    "Host",
    "HostReading",
    "Invitation",
    "KeyVersion",
    "Lane",
    "LaneHour",
    "LaneState",
    "Leftover",
    "Membership",
    "Profile",
    "ProfileVersion",
    "Pulse",
    "Recipe",
    "Role",
    "Run",
    "RunOutput",
    "RunSteps",
    "Team",
    "Transition",
    "User",
]
