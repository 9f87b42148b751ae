"""Lanes as they are at one moment: the confirmed state, unless the lane is paused or in maintenance, or the
evidence is too old."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Literal

from panel.history.shapes import LaneNow
from panel.models import Run

OPEN = (Run.State.QUEUED, Run.State.RUNNING)
RUNGS = range(1, 6)
SHALLOW = 2  # the highest rung of a plain climb
PIPS = {"ok": "pass", "degraded": "warn", "down": "fail", "not_testable": "nt"}
FIELDS = (
    "pk", "kind", "in_use", "model", "endpoint__name", "endpoint__code",
    "profile__code", "profile__name", "profile__environment", "profile__generation", "profile__version",
    "profile__changed_at", "profile__model", "profile__endpoint__name", "profile__endpoint__code",
    "check_order", "check_order__interval_s", "check_order__down_k", "check_order__down_n",
    "check_order__paused_at", "check_order__top_rung", "now__passed", "now__upper_at",
    "now__state", "now__since", "now__status", "now__rung", "now__reason", "now__latency_ms",
    "now__evidence_at", "now__recent", "now__last_run", "now__last_run__code", "now__stale_at",
    "now__maintained_since", "now__maintained_until", "now__flapping",
)  # fmt: skip

LaneRow = dict[str, Any]


def lane_now(row: LaneRow, now: datetime, *, running: bool, p95_ms: int | None) -> LaneNow:
    """Return the lane of the row as it is at `now`."""
    state, since = _state(row, now)
    inherited: Literal["", "profile__"] = "" if row["endpoint__code"] else "profile__"
    recent: str = row["now__recent"] or ""
    return LaneNow(
        kind=row["kind"],
        profile_code=row["profile__code"],
        profile_name=row["profile__name"],
        lane_id=row["pk"],
        in_use=row["in_use"],
        state=state,
        since=since,
        reason=row["now__reason"] or "",
        status=row["now__status"] or "",
        rung=row["now__rung"],
        model=row["model"] or row["profile__model"],
        endpoint_name=row[f"{inherited}endpoint__name"] or "",
        latency_ms=row["now__latency_ms"],
        p95_ms=p95_ms,
        evidence_at=row["now__evidence_at"],
        failures=_failures(recent, row["check_order__down_n"] or 1),
        failures_needed=row["check_order__down_k"] or 1,
        recovering=row["now__state"] == "down" and recent[-1:] in ("o", "g"),
        running=running,
        interval_s=row["check_order__interval_s"] or 0,
        pips=_pips(row["now__status"] or "", row["now__rung"], running, _passed_above(row)),
        last_run_code=row["now__last_run__code"] or "",
        endpoint_code=row[f"{inherited}endpoint__code"] or "",
        generation=row["profile__generation"],
        flapping=bool(row["now__flapping"]),
    )


def no_lane(kind: str, profile_code: str, profile_name: str) -> LaneNow:
    """Return what stands where a profile has no such lane."""
    return LaneNow(
        kind=kind, profile_code=profile_code, profile_name=profile_name, lane_id=0, in_use=False,
        state="unknown", since=None, reason="", status="", rung=None, model="", endpoint_name="",
        latency_ms=None, p95_ms=None, evidence_at=None, failures=0, failures_needed=1, recovering=False,
        running=False, interval_s=0, pips=_pips("", None, False), last_run_code="",
    )  # fmt: skip


def went_stale(stale_at: datetime | None, now: datetime) -> bool:
    """Tell whether evidence that grows old then no longer says what a lane is."""
    return stale_at is not None and stale_at < now


def _state(row: LaneRow, now: datetime) -> tuple[str, datetime | None]:
    if row["check_order__paused_at"] is not None:
        return "paused", row["check_order__paused_at"]
    since, until, stale_at = row["now__maintained_since"], row["now__maintained_until"], row["now__stale_at"]
    if since is not None and until is not None and since <= now < until:
        return "maintenance", since
    if went_stale(stale_at, now):  # the sweep will call it so within seconds
        return "unknown", stale_at
    return row["now__state"] or "unknown", row["now__since"]


def _failures(recent: str, window: int) -> int:
    told = recent.replace("n", "")
    return told[-window:].count("d") if recent.endswith("d") else 0


def _passed_above(row: LaneRow) -> set[int]:
    """Return the rungs above the second that the last deep climb passed: plain ones do not ask them."""
    passed, upper_at = row["now__passed"] or {}, row["now__upper_at"]
    if upper_at is None or row["now__status"] not in ("ok", "degraded"):
        return set()
    above = range(SHALLOW + 1, (row["check_order__top_rung"] or SHALLOW) + 1)
    return {
        rung for rung in above if (at := passed.get(str(rung))) and datetime.fromisoformat(at) >= upper_at
    }


def _pips(
    status: str, rung: int | None, running: bool, above: Collection[int] = ()
) -> tuple[str, str, str, str, str]:
    marks = ["none"] * len(RUNGS)
    if rung is not None and status in PIPS:
        marks[: rung - 1] = ["pass"] * (rung - 1)
        marks[rung - 1] = PIPS[status]
        for each in above:
            marks[each - 1] = "pass" if each > rung else marks[each - 1]
    elif running:
        marks[0] = "run"
    first, second, third, fourth, fifth = marks
    return first, second, third, fourth, fifth
