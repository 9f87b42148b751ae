"""The rows of the panel: columns, constraints, indexes and tiny pure properties, nothing more."""

from panel.models.audit import AuditEvent, Download
from panel.models.checks import Check, LaneHour, LaneState, Pulse, Run, RunSteps, Transition
from panel.models.endpoints import BalanceTold, Endpoint, KeyVersion
from panel.models.profiles import Lane, Profile, ProfileVersion
from panel.models.teams import Invitation, Membership, Role, Team, User

__all__ = [
    "AuditEvent",
    "BalanceTold",
    "Check",
    "Download",
    "Endpoint",
    "Invitation",
    "KeyVersion",
    "Lane",
    "LaneHour",
    "LaneState",
    "Membership",
    "Profile",
    "ProfileVersion",
    "Pulse",
    "Role",
    "Run",
    "RunSteps",
    "Team",
    "Transition",
    "User",
]
