"""The team's first page: board, counts, findings, and whether anything looks at all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from panel.history.findings import findings
from panel.history.incidents import marks_by_lane
from panel.history.lanes import OPEN, LaneRow, lane_now, no_lane, rows_of_team, under_way, went_stale
from panel.history.pulses import sweep
from panel.history.shapes import KINDS, BoardRow, Cell, LaneNow, Overview
from panel.history.strips import RANGES, Fold, folds
from panel.models import Incident, Lane, Run, Team
from panel.rollups import WORST_FIRST

DAY = RANGES["24h"]
# What may change on a page, the last two as time goes by.
CHANGING = (
    "pk", "in_use", "profile__version", "profile__changed_at", "check_order__paused_at", "now__last_run",
    "now__state", "now__evidence_at", "now__maintained_since", "now__maintained_until", "now__stale_at",
)  # fmt: skip


def overview(team: Team, now: datetime) -> Overview:
    """Return the team's overview at `now`: at most six queries, however many profiles."""
    rows = rows_of_team(team)
    running = under_way(rows)
    folded = folds({row["pk"]: row["profile__code"] for row in rows}, DAY, now)
    by_profile: dict[str, dict[str, Cell]] = {}
    for row in rows:
        cell = _cell(row, folded[row["pk"]], now, running=row["check_order"] in running)
        by_profile.setdefault(row["profile__code"], {})[row["kind"]] = cell
    heads = {row["profile__code"]: row for row in rows}
    lanes = [cell.now for cells in by_profile.values() for cell in cells.values() if cell.now.in_use]
    found = findings(lanes, marks_by_lane(team))
    return Overview(
        rows=tuple(_board_row(heads[code], cells, now) for code, cells in by_profile.items()),
        counts=_counts(lanes),
        findings=found,
        lanes_total=len(lanes),
        causes_down=sum(finding.state == "down" for finding in found),
        sweep=sweep(now),
    )


def newest_change(team: Team, now: datetime) -> str:
    """Return a word that changes whenever the team's overview or a lane's page would: four queries.

    It changes with evidence, open runs, edits, incidents, and with evidence that grows too old, so a page
    that still has the same word need not be drawn again.
    """
    said: list[object] = []
    for *facts, until, stale_at in Lane.objects.filter(profile__team=team).values_list(*CHANGING):
        said.append((facts, until is not None and now < until, went_stale(stale_at, now)))
    running = Run.objects.filter(check_order__lane__profile__team=team, state__in=OPEN).order_by("pk")
    incidents = Incident.objects.filter(team=team, closed_at__isnull=True).order_by("pk")
    said.append(list(incidents.values_list("pk", "worst", "taken_by", "muted_until", "parent")))
    silent = sweep(now)
    text = repr((said, list(running.values_list("pk", "state")), silent.silent, silent.part, silent.zones))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _cell(row: LaneRow, fold: Fold, now: datetime, *, running: bool) -> Cell:
    return Cell(lane_now(row, now, running=running, p95_ms=fold.p95()), fold.strip())


def _board_row(head: LaneRow, cells: Mapping[str, Cell], now: datetime) -> BoardRow:
    code, name = head["profile__code"], head["profile__name"]
    empty = Fold(DAY, DAY.start(now)).strip()
    return BoardRow(
        profile_code=code,
        name=name,
        environment=head["profile__environment"],
        generation=head["profile__generation"],
        version=head["profile__version"],
        cells=tuple(cells.get(kind) or Cell(no_lane(kind, code, name), empty) for kind in KINDS),
    )


def _counts(lanes: Sequence[LaneNow]) -> dict[str, int]:
    counts = dict.fromkeys(WORST_FIRST, 0)
    for lane in lanes:
        counts[lane.state] += 1
    return counts
