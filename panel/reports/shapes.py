"""What a report holds: numbers, codes and names as they were, no sentence. Its JSON is these fields.

Every time is an ISO 8601 string in UTC; every length says its unit; a share is 0.0 to 1.0; None is "nothing
was seen", which is never 0. States and reasons are the codes that pages put into words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

SHAPE = 1  # grows when a field changes its meaning or goes; new fields alone do not change it
LETTERS = {
    "ok": "o",
    "degraded": "g",
    "down": "d",
    "unknown": "u",
    "not_testable": "n",
    "maintenance": "m",
    "paused": "p",
    "": ".",
}
STATES = {letter: state for state, letter in LETTERS.items()}


@dataclass(frozen=True, slots=True)
class LaneLine:
    """One lane over the period. `state` and `reason` are as the report was made; `bars` holds one letter
    (`LETTERS`) a bar, oldest first, a dot where nothing was seen.

    `available` is (ok + degraded) / (ok + degraded + down) over its runs; `evidence` the share of its slots
    that told one of the three. `down_s` and `degraded_s` are confirmed times; `down_at_end` says that it was
    down when the period ended. `tokens` and `worst_reason` (the commonest of its failures, empty for none)
    are of the UTC days whose noon lies in the period.
    """

    profile: str
    profile_code: str
    environment: str
    generation: str
    kind: str
    endpoint: str
    state: str
    reason: str
    bars: str
    runs: int
    available: float | None
    available_before: float | None
    evidence: float
    down_s: int
    down_at_end: bool
    degraded_s: int
    p50_ms: int | None
    p95_ms: int | None
    p95_before_ms: int | None
    limit_ms: int | None
    worst_reason: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Broke:
    """One incident that was open in the period; `lasted_s` is its length up to when the report was made.
    `where` names its endpoint or host, empty for none; `taken_by` who had it, empty for nobody."""

    number: int
    worst: str
    reason: str
    where: str
    lanes: int
    opened_at: str
    closed_at: str | None
    lasted_s: int
    taken_by: str


@dataclass(frozen=True, slots=True)
class KeyDue:
    """A key in use that expires within 30 days of the period's end, or has."""

    endpoint: str
    endpoint_code: str
    number: int
    expires_at: str


@dataclass(frozen=True, slots=True)
class Taken:
    """A bundle that somebody holds. `stale` is empty, "version" (the profile has changed since) or "key" (it
    holds a key that is no longer in use)."""

    person: str
    profile: str
    profile_code: str
    version: int
    newest_version: int
    with_keys: bool
    at: str
    stale: str


@dataclass(frozen=True, slots=True)
class ToDo:
    """Something that a person should do: `what` is one of `panel.reports.todo.What`, the rest is what it is
    about, as far as it applies: `name` of a profile, key or person, `of` which profile the person's
    bundle is, `code` to link to, a lane's `kind`, a version, incident or latency as `number`."""

    what: str
    name: str = ""
    code: str = ""
    of: str = ""
    kind: str = ""
    generation: str = ""
    reason: str = ""
    number: int = 0
    at: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """A report. `until` is before `ends` for a preview of a period under way.

    `available` and `evidence` are means over the lanes that were seen, so that a lane which is asked often
    weighs no more. `outages` counts the incidents that were down. `longest_s` is the longest unbroken time
    of one lane in being down within the period, and `longest_lane` that lane's place in `lanes`. The fields
    that end in `_before` are of the period before. `broke_more` counts incidents beyond those listed.
    """

    team: str
    period: str
    zone: str
    begins: str
    ends: str
    until: str
    bar_hours: int
    available: float | None
    available_before: float | None
    evidence: float
    incidents: int
    incidents_before: int
    outages: int
    longest_s: int
    longest_before_s: int
    longest_lane: int | None
    runs: int
    tokens: int
    tokens_before: int
    lanes: tuple[LaneLine, ...] = ()
    broke: tuple[Broke, ...] = ()
    broke_more: int = 0
    keys: tuple[KeyDue, ...] = ()
    taken: tuple[Taken, ...] = ()
    holders: tuple[Taken, ...] = ()
    todo: tuple[ToDo, ...] = ()
    shape: int = SHAPE

    @property
    def slowest(self) -> tuple[LaneLine, ...]:
        """The lanes that answered, slowest first."""
        answered = [lane for lane in self.lanes if lane.p95_ms is not None]
        return tuple(sorted(answered, key=lambda lane: -(lane.p95_ms or 0)))

    @property
    def worst_first(self) -> tuple[LaneLine, ...]:
        """The lanes, those with most time down first, then those with most time degraded."""
        return tuple(sorted(self.lanes, key=lambda lane: (-lane.down_s, -lane.degraded_s)))

    @property
    def is_under_way(self) -> bool:
        """Whether the period was not over yet."""
        return self.until < self.ends


def to_json(body: Body) -> dict[str, Any]:
    """Return the body as JSON stores it."""
    return asdict(body)


_LISTS: dict[str, Any] = {
    "lanes": LaneLine,
    "broke": Broke,
    "keys": KeyDue,
    "taken": Taken,
    "holders": Taken,
    "todo": ToDo,
}


def from_json(said: Mapping[str, Any]) -> Body:
    """Return the body that was stored."""
    rows = {name: tuple(row(**each) for each in said[name]) for name, row in _LISTS.items()}
    return Body(**{**said, **rows})
