"""The words of states, rungs and lanes: one word each, everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from panel.history import BoardRow, LaneNow

STATES: dict[str, Promise] = {
    "ok": pgettext_lazy("state", "OK"),
    "degraded": pgettext_lazy("state", "Degraded"),
    "down": pgettext_lazy("state", "Down"),
    "unknown": pgettext_lazy("state", "Unknown"),
    "not_testable": pgettext_lazy("state", "Not testable"),
    "maintenance": pgettext_lazy("state", "Maintenance"),
    "paused": pgettext_lazy("state", "Paused"),
    "running": pgettext_lazy("state", "Running"),
    "not_reached": pgettext_lazy("state", "Not reached"),
}
RUNGS: dict[int, Promise] = {
    1: pgettext_lazy("rung", "Network"),
    2: pgettext_lazy("rung", "Channel"),
    3: pgettext_lazy("rung", "SDK"),
    4: pgettext_lazy("rung", "Agent"),
    5: pgettext_lazy("rung", "Rollout dry run"),
}
LANES: dict[str, Promise] = {
    "agent": _("Agent inference"),
    "replay": _("Trace replay"),
    "rollout": _("Rollout sampling"),
}
# Agent-Lightning 1.x replays nothing: what stands in that lane's place is called by its gateway.
LANES_OF_ONE: dict[str, Promise] = LANES | {"replay": _("Gateway upstream")}
ENVIRONMENTS: dict[str, Promise] = {
    "production": _("production"),
    "staging": _("staging"),
    "dev": _("dev"),
    "batch": _("batch"),
}
PHASES: dict[str, Promise] = {
    "dns": pgettext_lazy("phase", "DNS"),
    "connect": pgettext_lazy("phase", "TCP"),
    "tls": pgettext_lazy("phase", "TLS"),
    "wait": pgettext_lazy("phase", "wait"),
    "transfer": pgettext_lazy("phase", "transfer"),
}


def state_word(state: str) -> str:
    """Return the one word of a state or of a rung's status; an empty one reads as not reached."""
    return str(STATES.get(state) or STATES["not_reached"])


def rung_name(number: int | None) -> str:
    """Return the name of a rung, empty for none."""
    return str(RUNGS[number]) if number in RUNGS else ""


def rung_label(number: int) -> str:
    """Return a rung's number with its name, for short lines: "2 Channel"."""
    return gettext("%(number)d %(name)s") % {"number": number, "name": rung_name(number)}


def lane_name(kind: str, generation: str = "") -> str:
    """Return the name of a lane, as the framework of that generation knows it."""
    return str((LANES_OF_ONE if generation == "1.x" else LANES).get(kind, kind))


def lane_heading(rows: Iterable[BoardRow], kind: str) -> str:
    """Return what a column of lanes is called over profiles of one generation or of both."""
    names = (lane_name(kind, generation) for generation in sorted({row.generation for row in rows}))
    return " · ".join(dict.fromkeys(names))


def by_lane_name(lanes: Sequence[LaneNow]) -> list[tuple[str, list[LaneNow]]]:
    """Return lanes of several profiles grouped by what they are called."""
    groups: dict[str, list[LaneNow]] = {}
    for lane in sorted(lanes, key=lambda lane: lane.kind):
        groups.setdefault(lane_name(lane.kind, lane.generation), []).append(lane)
    return list(groups.items())


def environment_name(environment: str) -> str:
    """Return the word for a profile's environment."""
    return str(ENVIRONMENTS.get(environment, environment))


def phase_name(phase: str) -> str:
    """Return the word for one phase of an exchange."""
    return str(PHASES.get(phase, phase))


def listed(items: list[str]) -> str:
    """Join names as the language does: "a, b" or "a、b"."""
    return pgettext("between two items of a list", ", ").join(items)
