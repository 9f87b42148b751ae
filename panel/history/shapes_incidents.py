"""What pages are given of incidents: frozen shapes, no rows and no queries. Every time is aware UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class IncidentRow:
    """One incident in a list.

    `state` is the worst it reached. `key_number` is the version of the refused key, None where the cause is
    another. `lanes` counts those still in it (all, once it is closed). `parent` is the number of the open
    incident that explains it, None for none. `taken_by` is empty while nobody has it.
    """

    number: int
    state: str
    reason: str
    rung: int | None
    endpoint_code: str
    endpoint_name: str
    host_code: str
    host_name: str
    key_number: int | None
    lanes: int
    opened_at: datetime
    closed_at: datetime | None
    taken_by: str
    taken_initials: str
    taken_at: datetime | None
    muted_until: datetime | None
    parent: int | None


@dataclass(frozen=True, slots=True)
class IncidentMark:
    """What the overview says of an open incident; `taken_by` is empty while nobody has it."""

    number: int
    opened_at: datetime
    taken_by: str
    taken_initials: str
    muted_until: datetime | None


@dataclass(frozen=True, slots=True)
class OpenIncidents:
    """How many incidents are open, those apart that another one explains, and the worst state among them."""

    count: int
    worst: str


@dataclass(frozen=True, slots=True)
class IncidentList:
    """A page of incidents, the open ones first. `open` counts those nobody closed, whatever the filter."""

    rows: tuple[IncidentRow, ...]
    open: int
    total: int
    number: int
    pages: int

    @property
    def newer(self) -> int:
        """The number of the page before this one."""
        return self.number - 1

    @property
    def older(self) -> int:
        """The number of the page after this one."""
        return self.number + 1


@dataclass(frozen=True, slots=True)
class TouchedLane:
    """A lane's part in an incident. `recovered_at` is None while it is broken; `run_code` is empty when the
    run is gone."""

    profile_code: str
    profile_name: str
    environment: str
    kind: str
    generation: str
    state: str
    reason: str
    joined_at: datetime
    recovered_at: datetime | None
    run_code: str


@dataclass(frozen=True, slots=True)
class EntryView:
    """A line of the timeline. `author` is empty for Preflight itself; `text` is what a person wrote; `say`
    holds "lanes" (profile and kind of the first few), "count", "state", "reason", "to", "until" where they
    apply."""

    at: datetime
    kind: str
    author: str
    initials: str
    text: str
    say: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Spell:
    """A state that held for a while; "unknown" also stands for no evidence."""

    state: str
    begins: datetime
    ends: datetime


@dataclass(frozen=True, slots=True)
class SpanRow:
    """One lane as seen from one place, over the range of the page, without a hole. `place` is empty where the
    lane has one place only."""

    profile_name: str
    kind: str
    generation: str
    place: str
    spells: tuple[Spell, ...]


@dataclass(frozen=True, slots=True)
class KeyView:
    """The refused key. `state` is the key's own, empty when the endpoint or the version is gone."""

    number: int
    last_four: str = ""
    state: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class IncidentPage:
    """One incident. `lanes` and `spans` hold the first few, those still broken first; `lanes_total` counts
    all; `entries` holds the newest, newest first. `failed_runs` counts the runs that failed while their lane
    was in it."""

    row: IncidentRow
    lanes: tuple[TouchedLane, ...]
    lanes_total: int
    failed_runs: int
    entries: tuple[EntryView, ...]
    spans: tuple[SpanRow, ...]
    begins: datetime
    ends: datetime
    key: KeyView | None
    hosts: tuple[tuple[str, str], ...]
    children: tuple[IncidentRow, ...]

    @property
    def profiles(self) -> tuple[tuple[str, str], ...]:
        """Codes and names of the profiles of `lanes`, each once."""
        return tuple(dict.fromkeys((lane.profile_code, lane.profile_name) for lane in self.lanes))
