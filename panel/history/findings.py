"""Lanes that are not well, folded by cause: an incident is one finding; so is, where none is open, the same
reason at the same endpoint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from panel.history.shapes import Finding, LaneNow
from panel.history.shapes_incidents import IncidentMark
from panel.rollups import WORST_FIRST

WELL = ("ok", "paused", "maintenance")
# What an incident stands for; a lane that nobody heard of stands for itself.
TOLD = ("down", "degraded", "not_testable", "ok")
_LATEST = datetime.max.replace(tzinfo=UTC)


def findings(lanes: Iterable[LaneNow], incidents: Mapping[int, IncidentMark]) -> tuple[Finding, ...]:
    """Return the findings over the lanes, worst first, then oldest first.

    `incidents` holds the open ones by lane; a lane that fails alike and is in none yet stands with them. A
    lane that is still ok and failed its newest run has an unconfirmed finding; a lane whose evidence is too
    old has the reason `run_missed`, one that was never looked at has none.
    """
    unwell = [lane for lane in lanes if lane.in_use and not _well(lane)]
    alike = {_alike(lane): mark for lane in unwell if (mark := _mark(lane, incidents))}
    by_cause: defaultdict[int | tuple[str, str], list[LaneNow]] = defaultdict(list)
    marks: dict[int | tuple[str, str], IncidentMark] = {}
    for lane in unwell:
        mark = _mark(lane, incidents) or alike.get(_alike(lane))
        cause = mark.number if mark else _alike(lane)
        by_cause[cause].append(lane)
        if mark:
            marks[cause] = mark
    found = [_finding(tuple(group), marks.get(cause)) for cause, group in by_cause.items()]
    return tuple(sorted(found, key=_order))


def _mark(lane: LaneNow, incidents: Mapping[int, IncidentMark]) -> IncidentMark | None:
    return incidents.get(lane.lane_id) if lane.state in TOLD and _reason(lane) != "run_missed" else None


def _alike(lane: LaneNow) -> tuple[str, str]:
    return _reason(lane), lane.endpoint_code


def _well(lane: LaneNow) -> bool:
    return lane.state in ("paused", "maintenance") or (
        lane.state == "ok" and lane.status in ("ok", "degraded")
    )


def _reason(lane: LaneNow) -> str:
    """What is wrong now: stale evidence no longer says anything but that nobody looked."""
    heard_since = lane.since is None or (lane.evidence_at is not None and lane.evidence_at >= lane.since)
    if lane.state == "unknown" and not heard_since:
        return "run_missed"
    return lane.reason


def _finding(lanes: tuple[LaneNow, ...], mark: IncidentMark | None) -> Finding:
    worst = min(lanes, key=lambda lane: WORST_FIRST.index(lane.state))
    since = [lane.since for lane in lanes if lane.since is not None and lane.state == worst.state]
    reason = _reason(worst)
    rungs = [lane.rung for lane in lanes if lane.rung is not None]
    return Finding(
        state=worst.state,
        reason=reason,
        rung=min(rungs) if rungs and reason != "run_missed" else None,
        lanes=lanes,
        since=mark.opened_at if mark else min(since, default=None),
        endpoint_name=worst.endpoint_name,
        endpoint_code=worst.endpoint_code,
        incident=mark,
        confirmed=any(lane.status != "down" or lane.state == "down" for lane in lanes),
    )


def _order(finding: Finding) -> tuple[bool, int, datetime]:
    return not finding.confirmed, WORST_FIRST.index(finding.state), finding.since or _LATEST
