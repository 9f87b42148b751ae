"""What pages are given of time gone by: frozen shapes, no rows and no queries.

Every time is aware UTC, every duration says its unit in its name. A state is one of ok, degraded,
down, unknown, not_testable, maintenance, paused; a status is one of ok, degraded, down,
not_testable, not_reached, or empty where nothing was asked yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from panel.history.shapes_hosts import LeftoverView
from panel.history.shapes_incidents import IncidentMark, OpenIncidents
from panel.history.shapes_past import NO_PERCENTILES, NO_RUNS, Heat, Percentiles, Point, RunList
from panel.history.shapes_pulse import Sweep

KINDS = ("agent", "replay", "rollout")


@dataclass(frozen=True, slots=True)
class LaneNow:
    """One lane at one moment.

    `status`, `reason`, `rung` and `latency_ms` are those of the newest evidence, taken at
    `evidence_at`; `state` is the confirmed one, "unknown" when the evidence is absent or older than
    two intervals. `since` says since when `state` holds, None when that is not known. `failures` of
    `failures_needed` newest runs failed, which is the mark "1 of 2 failures" while `state` is not
    yet down; `recovering` says that the newest run passed and the state does not say so yet.
    `p95_ms` covers the range of the strip beside it. `flapping` says that `state` changes too often to be
    told each time. `pips` holds one word a rung, first rung first: pass, warn, fail, none (not reached or
    never asked), nt (not testable), run (under way now).
    `generation` is the framework's, "0.x" or "1.x". A lane that does not exist has `lane_id` 0 and
    `in_use` False.
    """

    kind: str
    profile_code: str
    profile_name: str
    lane_id: int
    in_use: bool
    state: str
    since: datetime | None
    reason: str
    status: str
    rung: int | None
    model: str
    endpoint_name: str
    latency_ms: int | None
    p95_ms: int | None
    evidence_at: datetime | None
    failures: int
    failures_needed: int
    recovering: bool
    running: bool
    interval_s: int
    pips: tuple[str, str, str, str, str]
    last_run_code: str
    endpoint_code: str = ""
    generation: str = ""
    flapping: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """One range of a lane as bars, oldest first.

    Each bar covers `bar` from `start` on and holds the worst confirmed state in it; "" where there
    was no evidence. `availability` is (ok + degraded) / (ok + degraded + down) over the runs of the
    range, None when nothing was observed. `evidence` is the share of the range's slots that told
    ok, degraded or down, 0.0 to 1.0; missed and not testable ones did not. `first` is the index of
    the first bar with evidence, None when there is none: what lies before it is blank, what lies
    after it is a gap. `told` counts the runs that the availability is made of.
    """

    states: tuple[str, ...]
    start: datetime
    bar: timedelta
    availability: float | None
    evidence: float
    first: int | None = None
    told: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """A lane on the board: what it is now, beside its last 24 hours."""

    now: LaneNow
    strip: Strip


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A profile on the board; always three cells: agent, replay, rollout."""

    profile_code: str
    name: str
    environment: str
    generation: str
    version: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause over all lanes it touches: an open incident, or the same reason at the same endpoint.

    `since` is the incident's, else the earliest of its lanes', None when none is known. `confirmed` is False
    while the failure has not reached its lanes' thresholds.
    """

    state: str
    reason: str
    rung: int | None
    lanes: tuple[LaneNow, ...]
    since: datetime | None
    endpoint_name: str
    endpoint_code: str
    confirmed: bool
    incident: IncidentMark | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """The team's first page. `counts` has every state, also with 0, over the lanes in use;
    `causes_down` counts the findings that are down; `word` is that of `newest_change`."""

    rows: tuple[BoardRow, ...]
    counts: Mapping[str, int]
    findings: tuple[Finding, ...]
    lanes_total: int
    causes_down: int
    sweep: Sweep
    incidents_open: OpenIncidents
    word: str


@dataclass(frozen=True, slots=True)
class Happened:
    """A confirmed change of one lane. `lasted` is how long `after` held, None while it still does.
    `run_code` is empty when the run is gone."""

    at: datetime
    kind: str
    before: str
    after: str
    rung: int | None
    reason: str
    lasted: timedelta | None
    run_code: str


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """What one exchange showed, redacted and capped, ready for escaped text.

    `failure` is the kind of failure where no answer came, else empty; `chain` is the chain of
    exceptions as (class, text), outermost first. `status` is the HTTP status, None without an
    answer. `certificate` holds (name, value) lines.
    """

    method: str
    url: str
    model: str
    status: int | None
    headers: tuple[tuple[str, str], ...]
    body: str
    failure: str
    message: str
    chain: tuple[tuple[str, str], ...]
    peer: str
    addresses: tuple[str, ...]
    certificate: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class StepView:
    """One question of a run and its answer. `place` is where it was asked: a zone's name, or "host:" and the
    host's; empty for the run's own place."""

    rung: int
    name: str
    status: str
    reason: str
    candidates: tuple[str, ...]
    say: Mapping[str, str]
    duration_ms: float
    tokens: int
    place: str = ""


@dataclass(frozen=True, slots=True)
class RungView:
    """One rung of the ladder in a run.

    `status` is empty when the rung is no part of the check or the run is not done; `phases` holds
    (phase, milliseconds) in the order of the wire; `last_passed_at` is the lane's, None for never.
    `evidence` is that of the step that decided the rung. `places` are those that its steps were asked from.
    """

    number: int
    status: str
    say: Mapping[str, str]
    reason: str
    duration_ms: float | None
    phases: tuple[tuple[str, float], ...]
    last_passed_at: datetime | None
    steps: tuple[StepView, ...]
    evidence: EvidenceView | None
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """What differs between the last pass and a failure; a pair of equal values did not change.

    `profile` and `key` are (at the last pass, at the failure); key numbers are None for no key. `path`
    holds (what, before, after) of what was measured on the way: "peer", "certificate", "server"; it is
    empty once the steps of either run were pruned.
    """

    passed_at: datetime
    passed_run_code: str
    profile: tuple[int, int]
    key: tuple[int | None, int | None]
    path: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RunView:
    """One run. `state` is queued, running, done or missed. `steps` is empty and the rungs carry no
    evidence once the full steps were pruned (`steps_kept` False). `changed` is None for a pass, and
    where nothing differs or no earlier pass is known. `offered_base_url` is the neighbour of the base URL
    that answered as an API, empty when none was searched or found. `top_rung` is how far the climb might go,
    `host_name` the host that it went to; `output_pieces` counts what a command printed
    (`panel.history.run_output`); `leftover` is None unless its worker died in a dry run. The
    steps of a deep run are kept while it is under way."""

    code: str
    state: str
    trigger: str
    status: str
    rung: int | None
    reason: str
    candidates: tuple[str, ...]
    started_at: datetime | None
    finished_at: datetime | None
    duration_ms: int | None
    tokens: int
    place: str
    steps: tuple[StepView, ...]
    rungs: tuple[RungView, ...]
    kind: str = ""
    generation: str = ""
    profile_code: str = ""
    profile_name: str = ""
    profile_version: int = 0
    key_number: int | None = None
    slot: datetime | None = None
    latency_ms: int | None = None
    asked_by: str = ""
    steps_kept: bool = False
    changed: Changed | None = None
    offered_base_url: str = ""
    top_rung: int = 2
    host_name: str = ""
    output_pieces: int = 0
    leftover: LeftoverView | None = None


@dataclass(frozen=True, slots=True)
class LanePage:
    """One lane over one range, beside its sisters. `strips` holds (kind, strip) for all lanes in
    use of the profile; `lanes` the same lanes as they are now, always three. `heat` is None where the range
    is no stretch to compare hours in. `kept_days` is None where all of the range is kept;
    `word` is that of `newest_change` for the profile."""

    now: LaneNow
    strips: tuple[tuple[str, Strip], ...]
    run: RunView | None
    chart: tuple[Point, ...]
    transitions: tuple[Happened, ...]
    range: str
    sweep: Sweep
    word: str
    lanes: tuple[LaneNow, ...] = ()
    percentiles: Percentiles = NO_PERCENTILES
    heat: Heat | None = None
    runs: RunList = NO_RUNS
    kept_days: int | None = None
