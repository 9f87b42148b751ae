"""What became of lanes since incidents were last looked after: their transitions, and what those missed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from django.db.models import Exists, OuterRef, Q

from panel.incidents.causes import Cause, Setting, cause_of
from panel.models import IncidentLane, LaneState, Transition

BROKEN: Final = ("down", "degraded")
WELL: Final = "ok"
OUT_OF_USE: Final = "out_of_use"

Row = Mapping[str, Any]
# Where a lane's setting is read; each name goes after the way to the lane.
OF_LANE: Final = (
    "model", "kind", "in_use", "endpoint", "endpoint__code", "now__flapping",
    "now__maintained_since", "now__maintained_until",
    "profile", "profile__code", "profile__name", "profile__model", "profile__team", "profile__endpoint",
    "profile__endpoint__code", "profile__recipe__host", "profile__recipe__host__code",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """A lane became something else: `after` is a state, or OUT_OF_USE.

    `held` says that the lane flaps, so that its being well does not count yet; `covered` that it was in
    maintenance then. `transition_id` is None for what is known from the lane's state alone.
    """

    lane_id: int
    team_id: int
    at: datetime
    after: str
    rung: int | None
    reason: str
    run_id: int | None
    cause: Cause
    profile: str
    kind: str
    held: bool
    covered: bool
    transition_id: int | None = None


def unfollowed(limit: int) -> list[Change]:
    """Return the transitions that no incident was made of, oldest first: one query."""
    of_transition = ("pk", "lane", "at", "after", "rung", "reason", "run", "run__key_number")
    rows = Transition.objects.filter(followed=False).order_by("at", "pk")
    return [
        _change(
            row, lane=row["lane"], at=row["at"], after=row["after"], run=row["run"],
            key=row["run__key_number"], transition=row["pk"],
        )
        for row in rows.values(*of_transition, *(f"lane__{name}" for name in OF_LANE))[:limit]
    ]  # fmt: skip


def overlooked(now: datetime, limit: int) -> list[Change]:
    """Return the lanes that are in an incident, or in none, against what their state says: one query.

    These are lanes that were covered by planned work when they broke, that flapped when they recovered, or
    that are no longer in use.
    """
    open_part = IncidentLane.objects.filter(lane=OuterRef("lane"), recovered_at__isnull=True)
    on_its_way = Transition.objects.filter(lane=OuterRef("lane"), followed=False)
    broken = Q(lane__in_use=True, state__in=BROKEN, lane__check_order__paused_at__isnull=True, part=False)
    covered = Q(maintained_since__lte=now, maintained_until__gt=now)
    over = Q(part=True) & (Q(lane__in_use=False) | Q(state=WELL, flapping=False))
    rows = (
        LaneState.objects.annotate(part=Exists(open_part))
        .filter((broken & ~covered) | over)
        .exclude(Exists(on_its_way))
        .order_by("lane_id")
    )
    of_state = ("lane", "state", "rung", "reason", "last_run", "last_run__key_number")
    return [
        _change(
            row, lane=row["lane"], at=now, run=row["last_run"], key=row["last_run__key_number"],
            after=row["state"] if row["lane__in_use"] else OUT_OF_USE,
        )
        for row in rows.values(*of_state, *(f"lane__{name}" for name in OF_LANE))[:limit]
    ]  # fmt: skip


def _change(
    row: Row,
    *,
    lane: int,
    at: datetime,
    after: str,
    run: int | None,
    key: int | None,
    transition: int | None = None,
) -> Change:
    return Change(
        lane_id=lane, team_id=row["lane__profile__team"], at=at, after=after, rung=row["rung"],
        reason=row["reason"], run_id=run, cause=cause_of(row["reason"], row["rung"], _setting(row, key)),
        profile=row["lane__profile__name"], kind=row["lane__kind"], held=bool(row["lane__now__flapping"]),
        covered=_covered(row, at), transition_id=transition,
    )  # fmt: skip


def _covered(row: Row, at: datetime) -> bool:
    since, until = row["lane__now__maintained_since"], row["lane__now__maintained_until"]
    return since is not None and until is not None and since <= at < until


def _setting(row: Row, key: int | None) -> Setting:
    inherited: Literal["", "profile__"] = "" if row["lane__endpoint"] else "profile__"
    return Setting(
        profile=row["lane__profile__code"],
        model=row["lane__model"] or row["lane__profile__model"],
        key_number=key,
        endpoint=row[f"lane__{inherited}endpoint__code"] or "",
        endpoint_id=row[f"lane__{inherited}endpoint"],
        host=row["lane__profile__recipe__host__code"] or "",
        host_id=row["lane__profile__recipe__host"],
    )
