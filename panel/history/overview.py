"""The team's first page: board, counts, findings, and whether anything looks at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from panel.history.findings import findings
from panel.history.incidents import marks_by_lane
from panel.history.lanes import LaneRow, lane_now, no_lane
from panel.history.shapes import KINDS, BoardRow, Cell, LaneNow, Overview
from panel.history.standing import of_team
from panel.history.strips import RANGES, Fold, folds
from panel.models import Team
from panel.rollups import WORST_FIRST

DAY = RANGES["24h"]


def overview(team: Team, now: datetime) -> Overview:
    """Return the team's overview at `now`: at most seven queries, however many profiles."""
    standing = of_team(team, now)
    rows, running = standing.rows, standing.running
    folded = folds({row["pk"]: row["profile__code"] for row in rows}, DAY, now)
    by_profile: dict[str, dict[str, Cell]] = {}
    for row in rows:
        cell = _cell(row, folded[row["pk"]], now, running=row["check_order"] in running)
        by_profile.setdefault(row["profile__code"], {})[row["kind"]] = cell
    heads = {row["profile__code"]: row for row in rows}
    lanes = [cell.now for cells in by_profile.values() for cell in cells.values() if cell.now.in_use]
    found = findings(lanes, marks_by_lane(team) if standing.incidents else {})
    return Overview(
        rows=tuple(_board_row(heads[code], cells, now) for code, cells in by_profile.items()),
        counts=_counts(lanes),
        findings=found,
        lanes_total=len(lanes),
        causes_down=sum(finding.state == "down" for finding in found),
        sweep=standing.sweep,
        incidents_open=standing.incidents_open,
        word=standing.word,
    )


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
