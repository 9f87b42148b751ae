"""Makes the body of a report from what was written down: a fixed number of queries, none of them of runs."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Count, Q

from panel import history
from panel.history import LaneNow
from panel.models import Incident, Team
from panel.reports.holdings import Holdings, iso
from panel.reports.measures import Measures, mean
from panel.reports.periods import BAR_HOURS, Period
from panel.reports.shapes import Body, Broke, LaneLine
from panel.reports.spells import LaneSpells, Spells
from panel.reports.todo import todo

INCIDENTS_READ = 1000
INCIDENTS_LISTED = 50


def make_body(team: Team, period: Period, now: datetime) -> Body:
    """Return the report of the period as it stands at `now`, which may lie within it."""
    until = min(period.ends, now)
    measures, spells = Measures(team, period), Spells(team, period.before.begins, until)
    lanes, longest, in_use = _lanes(team, period, until, now, measures, spells)
    incidents = _incidents(team, measures.before.begins, until)
    broke = [_broke(each, now) for each in incidents if _is_open_in(each, period.begins, until)]
    held = Holdings(team, period.begins, until)
    return Body(
        team=team.name, period=period.kind, zone=period.zone, begins=iso(period.begins),
        ends=iso(period.ends), until=iso(until), bar_hours=BAR_HOURS[period.kind],
        available=mean([lane.available for lane in lanes]),
        available_before=mean([lane.available_before for lane in lanes]),
        evidence=mean([lane.evidence for lane in lanes if lane.runs]) or 0.0,
        incidents=len(broke),
        incidents_before=sum(_is_open_in(each, measures.before.begins, period.begins) for each in incidents),
        outages=sum(each.worst == "down" for each in broke),
        longest_s=max((longest[lane].longest_s for lane in in_use), default=0),
        longest_before_s=spells.longest(measures.before.begins, period.begins),
        longest_lane=_longest(longest, in_use),
        runs=sum(lane.runs for lane in lanes),
        tokens=sum(lane.tokens for lane in lanes),
        tokens_before=sum(measures.then[lane].tokens for lane in in_use),
        lanes=tuple(lanes), broke=tuple(broke[:INCIDENTS_LISTED]),
        broke_more=max(0, len(broke) - INCIDENTS_LISTED),
        keys=held.keys_due, taken=held.taken, holders=held.holders,
        todo=todo(lanes, broke, held.keys_due, held.holders),
    )  # fmt: skip


def _lanes(
    team: Team, period: Period, until: datetime, now: datetime, measures: Measures, spells: Spells
) -> tuple[list[LaneLine], dict[int, LaneSpells], list[int]]:
    """Return a line a lane in use, in the order of the board, and its bad times."""
    lines, bad, order = [], {}, []
    for row in history.overview(team, now).rows:
        for lane in (cell.now for cell in row.cells if cell.now.in_use):
            bad[lane.lane_id] = spells.within(lane.lane_id, period.begins, until)
            order.append(lane.lane_id)
            limit = spells.limits.get(lane.lane_id)
            lines.append(_line(lane, row.environment, limit, measures, bad[lane.lane_id]))
    return lines, bad, order


def _line(
    lane: LaneNow, environment: str, limit_ms: int | None, measures: Measures, bad: LaneSpells
) -> LaneLine:
    now, then = measures.now[lane.lane_id], measures.then[lane.lane_id]
    return LaneLine(
        profile=lane.profile_name, profile_code=lane.profile_code, environment=environment,
        generation=lane.generation, kind=lane.kind, endpoint=lane.endpoint_name, state=lane.state,
        reason=lane.reason if lane.state in ("down", "degraded", "not_testable") else "",
        bars=now.bars, runs=now.runs, available=now.available, available_before=then.available,
        evidence=now.evidence, down_s=bad.down_s, down_at_end=bad.down_at_end, degraded_s=bad.degraded_s,
        p50_ms=now.quantile(0.5), p95_ms=now.quantile(0.95), p95_before_ms=then.quantile(0.95),
        limit_ms=limit_ms, worst_reason=now.worst_reason, tokens=now.tokens,
    )  # fmt: skip


def _longest(bad: dict[int, LaneSpells], order: list[int]) -> int | None:
    """Return the place of the lane that was down longest, None where none was."""
    places = [place for place, lane in enumerate(order) if bad[lane].longest_s]
    return max(places, key=lambda place: bad[order[place]].longest_s, default=None)


def _incidents(team: Team, begins: datetime, until: datetime) -> list[Incident]:
    """Return the incidents that were open in the time, oldest first; without those that another explains."""
    rows = Incident.objects.filter(
        Q(closed_at=None) | Q(closed_at__gt=begins), team=team, parent=None, opened_at__lt=until
    )
    rows = rows.select_related("endpoint", "host", "taken_by").annotate(lanes_count=Count("lanes"))
    return list(rows.order_by("opened_at")[:INCIDENTS_READ])


def _is_open_in(incident: Incident, begins: datetime, until: datetime) -> bool:
    return incident.opened_at < until and (incident.closed_at is None or incident.closed_at > begins)


def _broke(incident: Incident, now: datetime) -> Broke:
    where = incident.host or incident.endpoint
    lasted = (incident.closed_at or now) - incident.opened_at
    lanes: int = incident.lanes_count  # type: ignore[attr-defined]
    return Broke(
        number=incident.number, worst=incident.worst, reason=incident.reason,
        where=where.name if where else "", lanes=lanes,
        opened_at=iso(incident.opened_at), closed_at=iso(incident.closed_at) if incident.closed_at else None,
        lasted_s=int(lasted.total_seconds()), taken_by=str(incident.taken_by or ""),
    )  # fmt: skip
