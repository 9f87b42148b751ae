"""One lane's page: its sisters' strips, its newest run, its latency, and what happened to the profile."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta, tzinfo

from panel.history.heat import heat
from panel.history.lanes import lane_now, no_lane
from panel.history.run import view_of
from panel.history.runs import runs_of
from panel.history.shapes import KINDS, Happened, LaneNow, LanePage, RunView
from panel.history.shapes_past import NO_RUNS, Heat, RunList
from panel.history.standing import of_profile
from panel.history.strips import RANGES, Fold, Range, folds
from panel.models import Profile, Transition

HAPPENED_SHOWN = 50
# Hours are compared over more than a day or two; beyond a month they are not read.
HEATED = ("7d", "30d")


def lane_page(
    profile: Profile,
    kind: str,
    range: str,
    now: datetime,
    *,
    zone: tzinfo = UTC,
    at: datetime | None = None,
    before: datetime | None = None,
) -> LanePage:
    """Return the page of the profile's lane of this kind over "24h", "7d", "30d" or "90d".

    `at` picks the runs of the bar that it lies in, `before` those with earlier slots; `zone` is the reader's.
    At most twelve queries, however long the range. Raises KeyError for another range.
    """
    span = RANGES[range]
    standing = of_profile(profile, now)
    rows, running = {row["kind"]: row for row in standing.rows}, standing.running
    folded = folds({row["pk"]: profile.code for row in rows.values()}, span, now)
    lanes = {
        each: lane_now(row, now, running=row["check_order"] in running, p95_ms=folded[row["pk"]].p95())
        for each, row in rows.items()
    }
    chosen = lanes.get(kind) or no_lane(kind, profile.code, profile.name)
    open_run = running.get(rows[kind]["check_order"], "") if kind in rows else ""
    fold = folded.get(chosen.lane_id, Fold(span, span.start(now)))
    return LanePage(
        now=chosen,
        strips=tuple(
            (each, folded[lanes[each].lane_id].strip())
            for each in KINDS
            if each in lanes and lanes[each].in_use
        ),
        run=_newest_run(chosen, open_run),
        chart=fold.chart(),
        transitions=_happened([lane.lane_id for lane in lanes.values()], span.start(now)),
        range=range,
        lanes=tuple(lanes.get(each) or no_lane(each, profile.code, profile.name) for each in KINDS),
        percentiles=fold.percentiles(),
        heat=_heat(chosen, range, now, zone),
        runs=_runs(rows[kind]["check_order"], span, at, before) if kind in rows else NO_RUNS,
        kept_days=_kept_days(profile, span, now),
        sweep=standing.sweep,
        word=standing.word,
    )


def _heat(lane: LaneNow, range: str, now: datetime, zone: tzinfo) -> Heat | None:
    return heat(lane.lane_id, RANGES[range].start(now), now, zone) if range in HEATED else None


def _runs(check: int, span: Range, at: datetime | None, before: datetime | None) -> RunList:
    """Return the check's runs; those of one bar where a moment picked it."""
    if at is None:
        return runs_of(check, before=before)
    begins = span.begins(at)
    return runs_of(check, begins, begins + span.bar, before)


def _kept_days(profile: Profile, span: Range, now: datetime) -> int | None:
    """Return for how many days the rows of the range are kept, when the range reaches further back."""
    kept = profile.team.hours_days
    reaches = not span.by_day and span.start(now) < now - timedelta(days=kept)
    return kept if reaches else None


def _newest_run(lane: LaneNow, open_run: str) -> RunView | None:
    """Return the run the state stands on; before there is one, the run under way."""
    code = lane.last_run_code or open_run
    return view_of(code) if code else None


def _happened(lanes: Collection[int], since: datetime) -> tuple[Happened, ...]:
    """Return what was confirmed of the lanes, newest first."""
    rows = (
        Transition.objects.filter(lane__in=lanes, at__gte=since)
        .order_by("-at", "-pk")
        .values_list("lane", "lane__kind", "at", "before", "after", "rung", "reason", "run__code")
    )[:HAPPENED_SHOWN]
    happened, followed = [], dict[int, datetime]()
    for lane, kind, at, before, after, rung, reason, code in rows:
        lasted = followed[lane] - at if lane in followed else None
        happened.append(Happened(at, kind, before, after, rung, reason, lasted, code or ""))
        followed[lane] = at
    return tuple(happened)
