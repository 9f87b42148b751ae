"""The engine's façade: give a spec to `run`, get an outcome; the rest is vocabulary.

What opens sockets is imported when it is first used, so that a web process which only speaks of
outcomes does not pay for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from checks.outcome import (
    Certificate,
    Evidence,
    Failure,
    FailureKind,
    Outcome,
    Phase,
    Rung,
    Status,
    Step,
    Timings,
    Told,
    Verdict,
)
from checks.reason import Reason
from checks.spec import EgressPolicy, EndpointKind, LaneKind, LaneSpec, Masked

if TYPE_CHECKING:
    from checks.balance import Balance, BalanceSpec, ask_balance
    from checks.batch import follow_many, run, run_many
    from checks.hosts.reading import ask_host_key, look_at
    from checks.ladder import climb
    from checks.probes.tidying import clean_up
    from checks.verdict import classify

_ON_FIRST_USE: Final = {
    "Balance": "checks.balance",
    "BalanceSpec": "checks.balance",
    "ask_balance": "checks.balance",
    "ask_host_key": "checks.hosts.reading",
    "classify": "checks.verdict",
    "clean_up": "checks.probes.tidying",
    "climb": "checks.ladder",
    "follow_many": "checks.batch",
    "look_at": "checks.hosts.reading",
    "run": "checks.batch",
    "run_many": "checks.batch",
}

__all__ = [
    "Balance",
    "BalanceSpec",
    "Certificate",
    "EgressPolicy",
    "EndpointKind",
    "Evidence",
    "Failure",
    "FailureKind",
    "LaneKind",
    "LaneSpec",
    "Masked",
    "Outcome",
    "Phase",
    "Reason",
    "Rung",
    "Status",
    "Step",
    "Timings",
    "Told",
    "Verdict",
    "ask_balance",
    "ask_host_key",
    "classify",
    "clean_up",
    "climb",
    "follow_many",
    "look_at",
    "run",
    "run_many",
]


def __getattr__(name: str) -> object:
    """Import what opens sockets. Raises AttributeError for a name the façade does not have."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ON_FIRST_USE[name]), name)
