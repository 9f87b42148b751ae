"""A lane's past: ninety days, percentiles of ranges, hours side by side, runs of one bar."""

from __future__ import annotations

from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest

from panel import history
from panel.history import HeatCell, LanePage
from panel.models import Check, LaneHour, Team
from tests import make
from tests.panel.time.outcomes import live

pytestmark = pytest.mark.django_db
NOON = make.NOON  # a Monday
SOON = NOON + timedelta(minutes=5)
DAY = timedelta(days=1)


def page_of(check: Check, over: str, **asked) -> LanePage:
    return history.lane_page(check.lane.profile, check.lane.kind, over, SOON, **asked)


def test_ninety_days_are_bars_of_whole_days_and_need_no_hours() -> None:
    check = make.check()
    for back in (89, 40, 0):
        live(check, "od" if back == 40 else "o", start=NOON - DAY * back)
    LaneHour.objects.all().delete()
    ((_, strip),) = page_of(check, "90d").strips
    assert (len(strip.states), strip.bar) == (90, DAY)
    assert [strip.states[n] for n in (0, 49, 89)] == ["ok", "ok", "ok"]
    assert (strip.told, strip.availability) == (4, 0.75)


def test_a_day_before_the_range_is_not_in_it() -> None:
    check = make.check()
    live(check, "d", start=NOON - DAY * 90)
    live(check, "o")
    assert page_of(check, "90d").strips[0][1].availability == 1.0


def test_what_closes_today_is_seen_at_once_over_ninety_days() -> None:
    check = make.check()
    live(check, "o")
    assert page_of(check, "90d").strips[0][1].told == 1
    live(check, "oo", start=NOON + timedelta(minutes=2))
    assert page_of(check, "90d").strips[0][1].told == 3


@pytest.mark.parametrize("over", ["24h", "7d", "30d", "90d"])
def test_every_range_has_its_own_percentiles(over: str) -> None:
    check = make.check()
    live(check, "o" * 10)
    found = page_of(check, over).percentiles
    assert all(ms == pytest.approx(90, rel=0.1) for ms in found)
    assert page_of(make.check(), over).percentiles == (None, None, None)


def test_maintenance_counts_neither_for_nor_against_a_lane() -> None:
    check = make.check()
    live(check, "oo")
    LaneHour.objects.update(maintenance=50, worst_first="maintenance")
    strip = page_of(check, "24h").strips[0][1]
    assert (strip.availability, strip.evidence, strip.told) == (1.0, 1.0, 2)
    assert "maintenance" in strip.states


def test_nothing_observed_is_neither_all_nor_nothing() -> None:
    check = make.check()
    live(check, "nn")
    assert page_of(check, "90d").strips[0][1].availability is None


def test_a_week_of_hours_has_a_row_a_day_by_the_clock_of_the_reader() -> None:
    check = make.check()
    live(check, "odd", start=NOON - DAY)
    heat = page_of(check, "7d", zone=ZoneInfo("Asia/Shanghai")).heat
    row = heat.labels.index((NOON - DAY).date())
    assert heat.rows[row][20] == HeatCell(1, 0, 2)
    assert sum(cell.told for cells in heat.rows for cell in cells) == 3


def test_a_month_of_hours_has_a_row_a_weekday() -> None:
    check = make.check()
    for week in range(3):
        live(check, "g", start=NOON - DAY * 7 * week)
    heat = page_of(check, "30d", zone=UTC).heat
    assert heat.labels == (0, 1, 2, 3, 4, 5, 6)
    assert heat.rows[0][12] == HeatCell(0, 3, 0)


@pytest.mark.parametrize("over", ["24h", "90d"])
def test_hours_are_not_compared_over_a_day_or_a_quarter(over: str) -> None:
    assert page_of(make.check(), over).heat is None


def test_a_picked_bar_lists_the_runs_that_ended_in_it() -> None:
    check = make.check()
    live(check, "o", start=NOON - timedelta(seconds=20))
    inside = live(check, "od")
    runs = page_of(check, "24h", at=NOON + timedelta(minutes=29)).runs
    assert (runs.since, runs.until) == (NOON, NOON + timedelta(minutes=30))
    assert [row.code for row in runs.rows][:2] == [run.code for run in reversed(inside)]


def test_without_a_picked_bar_the_newest_runs_are_listed_a_page_at_a_time() -> None:
    check = make.check()
    codes = [run.code for run in live(check, "o" * 30)][::-1]
    first = page_of(check, "24h").runs
    second = page_of(check, "24h", before=first.older).runs
    assert [row.code for row in (*first.rows, *second.rows)] == codes
    assert second.older is None


def test_a_range_that_reaches_further_than_hours_are_kept_says_so() -> None:
    check = make.check()
    Team.objects.update(hours_days=14)
    assert [page_of(Check.objects.get(pk=check.pk), over).kept_days for over in ("7d", "30d", "90d")] == [
        None, 14, None,
    ]  # fmt: skip
