"""Days, weeks and months in zones, over clock changes and ends of months."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from panel.reports.periods import Due, around, newest_complete

BERLIN, SHANGHAI = "Europe/Berlin", "Asia/Shanghai"


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def due(kind: str, zone: str = BERLIN, hour: int = 8, weekday: int = 0, day: int = 1) -> Due:
    return Due(kind, zone, hour, weekday, day)


def test_a_week_runs_from_monday_to_monday_in_its_own_zone():
    week = newest_complete("week", SHANGHAI, utc(2026, 11, 30, 1))
    assert (week.begins, week.ends) == (utc(2026, 11, 22, 16), utc(2026, 11, 29, 16))
    assert (week.first_day, week.last_day) == (date(2026, 11, 23), date(2026, 11, 29))


@pytest.mark.parametrize(("day", "hours"), [((2026, 3, 29, 12), 23), ((2026, 10, 25, 12), 25)])
def test_a_day_of_a_clock_change_is_shorter_or_longer(day: tuple[int, ...], hours: int):
    period = around("day", BERLIN, utc(*day))
    assert period.ends - period.begins == timedelta(hours=hours)
    assert period.bars == hours


@pytest.mark.parametrize("zone", [BERLIN, SHANGHAI, "Asia/Kathmandu", "America/Santiago", "Africa/Cairo"])
@pytest.mark.parametrize("kind", ["day", "week", "month"])
def test_neighbouring_periods_meet_without_gap_all_year(kind: str, zone: str):
    period = around(kind, zone, utc(2026, 12, 31))
    for _ in range(400):
        assert period.before.ends == period.begins < period.ends
        assert around(kind, zone, period.begins) == period
        period = period.before


def test_a_midnight_that_a_clock_change_skips_is_the_moment_of_the_change():
    day = around("day", "America/Santiago", utc(2026, 9, 6, 12))
    assert day.begins == utc(2026, 9, 6, 4)
    assert day.ends - day.begins == timedelta(hours=23)


def test_a_report_is_due_at_the_same_local_hour_on_both_sides_of_a_clock_change():
    first = due("day").next_after(utc(2026, 10, 24, 0))
    second = due("day").next_after(first)
    assert (first, second) == (utc(2026, 10, 24, 6), utc(2026, 10, 25, 7))


def test_an_hour_that_a_clock_change_skips_is_due_once_all_the_same():
    skipped = due("day", hour=2)
    first = skipped.next_after(utc(2026, 3, 28, 12))
    assert first == utc(2026, 3, 29, 1)
    assert skipped.next_after(first) == utc(2026, 3, 30, 0)


def test_an_hour_that_comes_twice_is_due_once():
    twice = due("day", hour=2)
    first = twice.next_after(utc(2026, 10, 24, 12))
    assert first == utc(2026, 10, 25, 0)
    assert twice.next_after(first) == utc(2026, 10, 26, 1)


def test_the_last_day_stands_in_where_a_month_is_shorter():
    monthly = due("month", zone="UTC", day=31)
    moments, at = [], utc(2028, 1, 31, 8)
    for _ in range(3):
        at = monthly.next_after(at)
        moments.append(at)
    assert moments == [utc(2028, 2, 29, 8), utc(2028, 3, 31, 8), utc(2028, 4, 30, 8)]


def test_a_weekly_report_comes_on_its_weekday():
    assert due("week", zone="UTC", weekday=4).next_after(utc(2026, 11, 30, 9)) == utc(2026, 12, 4, 8)


def test_a_due_time_is_always_later_than_now():
    assert due("week", zone="UTC").next_after(utc(2026, 11, 30, 8)) == utc(2026, 12, 7, 8)
