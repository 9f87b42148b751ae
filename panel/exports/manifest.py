"""The head of every file: what it is, when it was made, and the runs that speak for it."""

from __future__ import annotations

from datetime import datetime

from panel.exports.bundle import Bundle, BundleLane


def header(bundle: Bundle) -> tuple[str, ...]:
    """Comment lines; a dialect makes ASCII of the names."""
    keys = "with keys: keep it to yourself (chmod 600)" if bundle.with_keys else "without keys"
    return (
        f"Preflight bundle: {bundle.profile} v{bundle.version} ({bundle.code}), team {bundle.team}",
        f"Agent-Lightning {bundle.generation}; made {moment(bundle.made_at)}, {keys}",
        *(evidence(lane) for lane in bundle.lanes),
    )


def evidence(lane: BundleLane) -> str:
    """One line: the lane's newest run, its end and its verdict."""
    if lane.proof is None:
        return f"Evidence, {lane.kind}: none, this lane never ran"
    return (
        f"Evidence, {lane.kind}: run {lane.proof.run}, {moment(lane.proof.finished_at)}, {lane.proof.status}"
    )


def moment(when: datetime) -> str:
    """An aware time to the minute, with its offset: "2026-11-30 14:25+08:00"."""
    return when.isoformat(sep=" ", timespec="minutes")
