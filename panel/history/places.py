"""Places compared: what the newest climb of the first two rungs saw from each, hop by hop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from panel.history.shapes_hosts import Comparison, Hop, PlaceView
from panel.models import Profile, RunSteps

Plain = dict[str, Any]
LOOKED_THROUGH = 12  # newest runs with kept steps
HOST = "host:"
PHASES = ("dns", "connect", "tls", "wait", "transfer")
_WORST_FIRST = ("down", "not_testable", "degraded", "ok", "not_reached")
# The steps that every climb of the two rungs has, and those that stand for a place that could not be asked.
PLAIN = ("resolve", "connect", "tls", "chat", "host", "brief", "gateway_health", "gateway_state")


@dataclass(frozen=True, slots=True)
class _Seen:
    view: PlaceView
    evidence: Mapping[str, Any]
    say: Mapping[str, str]


def compare(profile: Profile, kind: str, now: datetime) -> Comparison:
    """Return the lane's places side by side, the host's first: one query. `now` bounds what is looked at."""
    kept = (
        RunSteps.objects.filter(
            run__check_order__lane__profile=profile, run__check_order__lane__kind=kind, run__state="done",
            run__slot__lte=now,
        )
        .select_related("run")
        .order_by("-run__slot")[:LOOKED_THROUGH]
    )  # fmt: skip
    seen: dict[str, _Seen] = {}
    for row in kept:
        for name, steps in _by_place(row).items():
            seen.setdefault(name, _seen(name, row, steps))
    places = sorted(seen.values(), key=lambda each: (not each.view.is_host, each.view.name))
    return Comparison(tuple(each.view for each in places), tuple(_hops(places)))


def _by_place(row: RunSteps) -> dict[str, list[Plain]]:
    found: dict[str, list[Plain]] = {}
    for step in row.steps:
        if step["rung"] <= 2 and step["name"] in PLAIN and step["status"] != "not_reached":
            found.setdefault(step.get("place") or row.run.place, []).append(step)
    return found


def _seen(name: str, row: RunSteps, steps: Sequence[Plain]) -> _Seen:
    worst = min(steps, key=lambda step: _WORST_FIRST.index(step["status"]))
    evidence: dict[str, Any] = {}
    for step in steps:
        evidence |= step.get("evidence", {})
    view = PlaceView(
        name,
        name.startswith(HOST),
        row.run.code,
        row.run.finished_at,
        worst["status"],
        worst.get("reason", ""),
    )
    return _Seen(view, evidence, {key: said for step in steps for key, said in step.get("say", {}).items()})


def _hops(places: Sequence[_Seen]) -> list[Hop]:
    hops = [_hop(name, [told(each) for each in places]) for name, told in _HOPS.items()]
    timings = [
        Hop(phase, tuple(_timing(each, phase) for each in places), differs=False, timing=True)
        for phase in PHASES
    ]
    return hops + timings


def _hop(name: str, cells: list[str]) -> Hop:
    """A cell that nobody measured differs from none; a proxy that one place has and the other not does."""
    known = set(cells) if name in ("proxy", "reason") else {cell for cell in cells if cell}
    return Hop(name, tuple(cells), differs=len(known) > 1)


def _timing(place: _Seen, phase: str) -> str:
    spent = place.evidence.get("timings", {}).get(phase)
    return "" if spent is None else f"{spent:.0f} ms"


def _addresses(place: _Seen) -> str:
    listed = place.evidence.get("addresses") or [place.say.get("address", "")]
    return ", ".join(sorted(address for address in listed if address))


def _certificate(place: _Seen, name: str) -> str:
    value = place.evidence.get("certificate", {}).get(name, "")
    return ", ".join(value) if isinstance(value, list) else str(value)


def _status(place: _Seen) -> str:
    return str(place.evidence.get("status", ""))


_HOPS: dict[str, Callable[[_Seen], str]] = {
    "addresses": _addresses,
    "proxy": lambda place: str(place.evidence.get("proxy", "")),
    "peer": lambda place: str(place.evidence.get("peer", "")),
    "certificate": lambda place: _certificate(place, "subject"),
    "issuer": lambda place: _certificate(place, "issuer"),
    "tls_version": lambda place: _certificate(place, "tls_version"),
    "http_status": _status,
    "status": lambda place: place.view.status,
    "reason": lambda place: place.view.reason,
}
