"""What pages are given of hosts and of places: frozen shapes, no rows and no queries.

Every time is aware UTC, every duration says its unit in its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from checks.hosts.facts import HostFacts


@dataclass(frozen=True, slots=True)
class HostFinding:
    """One thing that stands out: a reason's code, values for its sentence, down, degraded or not_testable
    (which only informs)."""

    reason: str
    say: Mapping[str, str]
    status: str


@dataclass(frozen=True, slots=True)
class HostRow:
    """One host as it is now. `facts` and `findings` are of the newest reading that brought some, at
    `read_at`; None, empty and None before the first. `stale` says that it is older than two intervals.
    `key_changed` says that the machine shows another host key than the accepted one. `lanes` holds
    (profile's code, profile's name, kind, generation) of the lanes in use that run there."""

    code: str
    name: str
    address: str
    user: str
    port: int
    zone: str
    state: str
    reason: str
    since: datetime | None
    read_at: datetime | None
    stale: bool
    has_key: bool
    host_key_accepted: bool
    key_changed: bool
    paused: bool
    facts: HostFacts | None
    findings: tuple[HostFinding, ...]
    lanes: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """One look at a host; `state` is queued, running, done or missed, `findings` their number."""

    code: str
    state: str
    status: str
    reason: str
    say: Mapping[str, str]
    slot: datetime
    finished_at: datetime | None
    duration_ms: int | None
    findings: int
    asked_by: str


@dataclass(frozen=True, slots=True)
class RecipeRow:
    """A profile that runs on the host."""

    profile_code: str
    profile_name: str
    where: str
    agent: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FitView:
    """Whether the model of a profile fits the host, by the newest reading: (name, status, say) a line, named
    as in `checks.hosts.fit.FitLine`."""

    profile_code: str
    profile_name: str
    model_path: str
    status: str
    reason: str
    lines: tuple[tuple[str, str, Mapping[str, str]], ...]


@dataclass(frozen=True, slots=True)
class HostPage:
    """One host with its keys, readings (newest first) and recipes. `fits` has those whose model's folder was
    read. Fingerprints are "SHA256:…", empty where
    there is no such key."""

    row: HostRow
    public_key: str
    accepted_fingerprint: str
    accepted_at: datetime | None
    accepted_by: str
    offered_fingerprint: str
    offered_at: datetime | None
    jump_name: str
    python: str
    workdir: str
    activate: str
    interval_s: int
    next_reading_at: datetime | None
    readings: tuple[ReadingRow, ...]
    recipes: tuple[RecipeRow, ...]
    fits: tuple[FitView, ...] = ()


@dataclass(frozen=True, slots=True)
class PlaceView:
    """A place from which rungs 1 and 2 of a lane were climbed, by its newest run. `name` is a zone's, or
    "host:" and the host's."""

    name: str
    is_host: bool
    run_code: str
    at: datetime | None
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop of the way, with a cell for each place, empty where it was not measured. `timing` hops are in
    milliseconds and never differ."""

    name: str
    cells: tuple[str, ...]
    differs: bool
    timing: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """The places of a lane side by side, the host's first. `hops` keep the order of the wire."""

    places: tuple[PlaceView, ...]
    hops: tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class OutputPiece:
    """A piece of what a dry run's command printed: plain text, redacted."""

    number: int
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class LeftoverView:
    """What became of what an interrupted dry run left. `next_try_at` is None once it was settled, or given
    up (`settled_at` None too)."""

    tries: int
    next_try_at: datetime | None
    settled_at: datetime | None
