"""Silence of an engine whose server tells of it: asleep for training, or stuck."""

from __future__ import annotations

from collections.abc import Mapping

from checks.outcome import FailureKind
from checks.reason import Reason
from checks.verdict.rules import Rule
from checks.verdict.view import View

_STATES: Mapping[str, Reason] = {
    "asleep": Reason.ENGINE_ASLEEP,
    "paused": Reason.ENGINE_ASLEEP,
    "frozen": Reason.ENGINE_WEDGED,
}


def silent(view: View) -> Reason | None:
    """A chat that got no byte in its time, from a server that was asked for its engine's state."""
    if view.kind is not FailureKind.TIMEOUT or view.status is not None:
        return None
    return _STATES.get(view.words("engine_state"))


FAILURES: tuple[Rule, ...] = (silent,)
