"""Lanes that are not well, folded by cause: the same reason at the same endpoint is one finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from panel.history.shapes import Finding, LaneNow
from panel.rollups import WORST_FIRST

WELL = ("ok", "paused", "maintenance")
_LATEST = datetime.max.replace(tzinfo=UTC)


def findings(lanes: Iterable[LaneNow]) -> tuple[Finding, ...]:
    """Return the findings over the lanes, worst first, then oldest first.

    A lane that is still ok and failed its newest run has an unconfirmed finding; a lane whose
    evidence is too old has the reason `run_missed`, one that was never looked at has none.
    """
    by_cause: defaultdict[tuple[str, str], list[LaneNow]] = defaultdict(list)
    for lane in lanes:
        if lane.in_use and not _well(lane):
            by_cause[_reason(lane), lane.endpoint_code].append(lane)
    found = [_finding(reason, tuple(group)) for (reason, _), group in by_cause.items()]
    return tuple(sorted(found, key=_order))


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


def _finding(reason: str, lanes: tuple[LaneNow, ...]) -> Finding:
    worst = min(lanes, key=lambda lane: WORST_FIRST.index(lane.state))
    since = [lane.since for lane in lanes if lane.since is not None and lane.state == worst.state]
    rungs = [lane.rung for lane in lanes if lane.rung is not None]
    return Finding(
        state=worst.state,
        reason=reason,
        rung=min(rungs) if rungs and reason != "run_missed" else None,
        lanes=lanes,
        since=min(since, default=None),
        endpoint_name=worst.endpoint_name,
        endpoint_code=worst.endpoint_code,
        confirmed=any(lane.status != "down" or lane.state == "down" for lane in lanes),
    )


def _order(finding: Finding) -> tuple[bool, int, datetime]:
    return not finding.confirmed, WORST_FIRST.index(finding.state), finding.since or _LATEST
