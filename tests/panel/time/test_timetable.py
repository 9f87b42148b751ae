"""Slots by the wall clock and by the epoch: cron in zones, days on which clocks change, quiet hours."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest

from panel import timetable
from panel.models import Check

BERLIN = "Europe/Berlin"
SPRING = datetime(2026, 3, 28, 12, tzinfo=UTC)  # clocks go from 2 to 3 the night after
AUTUMN = datetime(2026, 10, 24, 12, tzinfo=UTC)  # from 3 back to 2 the night after


def slots(count: int, after: datetime, **fields) -> list[datetime]:
    """The check's next slots, one after the other."""
    order, found = Check(**({"lane_id": 7} | fields)), []
    for _ in range(count):
        after = timetable.next_slot(order, after)
        found.append(after)
    return found


def local(moments: list[datetime], zone: str = BERLIN) -> list[str]:
    return [moment.astimezone(ZoneInfo(zone)).strftime("%d %H:%M") for moment in moments]


def crons(expression: str, after: datetime, count: int, zone: str = BERLIN) -> list[str]:
    return local(list(islice(timetable.cron_slots(expression, zone, after), count)), zone)


def test_a_cron_slot_lies_in_its_minute_at_the_lanes_own_second() -> None:
    found = [slots(1, SPRING, lane_id=lane, cron="30 9 * * *", zone=BERLIN)[0] for lane in range(1, 200)]
    assert {moment.replace(second=0) for moment in found} == {datetime(2026, 3, 29, 7, 30, tzinfo=UTC)}
    assert len({moment.second for moment in found}) > 30


def test_a_slot_in_the_hour_that_is_skipped_comes_once_right_after_it() -> None:
    assert crons("30 2 * * *", SPRING, 3) == ["29 03:00", "30 02:30", "31 02:30"]


def test_a_slot_in_the_hour_that_comes_twice_comes_once() -> None:
    assert crons("30 2 * * *", AUTUMN, 3) == ["25 02:30", "26 02:30", "27 02:30"]


@pytest.mark.parametrize(("day", "hours"), [(SPRING, 23), (AUTUMN, 25)])
def test_every_half_hour_is_every_half_hour_of_a_short_and_of_a_long_day(day: datetime, hours: int) -> None:
    begin = day.replace(hour=0) + timedelta(days=1)
    found = islice(timetable.cron_slots("*/30 * * * *", BERLIN, begin), 2 * hours)
    assert {later - sooner for sooner, later in pairwise(found)} == {timedelta(minutes=30)}


def test_a_cron_slot_asked_for_inside_the_second_of_two_hours_lies_after_it() -> None:
    second = datetime(2026, 10, 25, 1, 40, tzinfo=UTC)  # 2:40, for the second time
    assert next(timetable.cron_slots("45 2 * * *", BERLIN, second)) > second


def test_an_interval_knows_no_zone() -> None:
    found = slots(60, AUTUMN, interval_s=3600, zone=BERLIN)
    assert {later - sooner for sooner, later in pairwise(found)} == {timedelta(hours=1)}


def test_the_last_day_of_a_month_and_of_a_leap_february() -> None:
    year = datetime(2028, 1, 30, 12, tzinfo=UTC)
    assert crons("0 0 L * *", year, 3, "UTC") == ["31 00:00", "29 00:00", "31 00:00"]
    assert next(timetable.cron_slots("0 0 29 2 *", "UTC", year + timedelta(days=60))).year == 2032


@pytest.mark.parametrize(
    "text", ["", "* * * *", "* * * * * *", "61 * * * *", "0 0 31 2 *", "0 0 * * 9", "@daily"]
)
def test_what_is_no_cron_of_five_fields_or_never_comes_is_refused(text: str) -> None:
    with pytest.raises(timetable.CronRefused):
        timetable.judge_cron(text, "UTC", SPRING)


def test_no_slot_lies_in_quiet_hours_over_midnight() -> None:
    quiet = {"quiet_from": time(22), "quiet_to": time(7, 30), "zone": BERLIN}
    found = slots(200, SPRING, interval_s=900, **quiet)
    assert all("07:30" <= stamp[3:] < "22:00" for stamp in local(found))
    assert any(later - sooner > timedelta(hours=8) for sooner, later in pairwise(found))


def test_quiet_hours_end_by_the_wall_clock_on_the_day_that_clocks_change() -> None:
    order = Check(quiet_from=time(22), quiet_to=time(7), zone=BERLIN)
    for evening in (SPRING, AUTUMN):
        end = timetable.quiet_until(order, evening + timedelta(hours=10))
        assert end is not None
        assert local([end])[0].endswith("07:00")


def test_quiet_hours_that_end_in_the_hour_that_comes_twice_hold_their_slots_back() -> None:
    order = Check(lane_id=7, interval_s=600, quiet_from=time(1), quiet_to=time(2, 30), zone=BERLIN)
    first = timetable.next_slot(order, datetime(2026, 10, 24, 23, 30, tzinfo=UTC))
    assert timetable.quiet_until(order, first) is None


def test_a_schedule_with_slots_in_quiet_hours_alone_is_followed_all_the_same() -> None:
    quiet = {"quiet_from": time(2), "quiet_to": time(4), "zone": "UTC"}
    assert local(slots(1, SPRING, cron="0 3 * * *", **quiet), "UTC") == ["29 03:00"]


def test_a_failing_lane_has_slots_in_between_and_keeps_its_own() -> None:
    order = Check(lane_id=7, interval_s=300, retest_s=60)
    regular = timetable.next_slot(order, SPRING)
    seen, at = [], SPRING
    for _ in range(10):
        at = timetable.next_slot(order, at, failing=True)
        seen.append(at)
    assert regular in seen
    assert {later - sooner for sooner, later in pairwise(seen)} == {timedelta(minutes=1)}


def test_a_retest_slower_than_the_interval_changes_nothing() -> None:
    order = Check(lane_id=7, interval_s=30, retest_s=60)
    assert timetable.next_slot(order, SPRING, failing=True) == timetable.next_slot(order, SPRING)


def test_the_slots_of_a_night_are_not_due_after_it() -> None:
    order = Check(lane_id=7, interval_s=600, quiet_from=time(22), quiet_to=time(7), zone="UTC")
    evening = datetime(2026, 3, 28, 21, tzinfo=UTC)
    oldest = timetable.next_slot(order, evening)
    due = timetable.due_slots(order, oldest, evening + timedelta(hours=11))
    assert len(due) == 6 + 6


def test_a_year_of_plain_slots_is_a_range_and_a_year_of_cron_slots_its_last_week() -> None:
    year = SPRING + timedelta(days=365)
    plain = Check(lane_id=7, interval_s=10)
    assert isinstance(timetable.due_slots(plain, timetable.next_slot(plain, SPRING), year), range)
    cron = Check(lane_id=7, cron="0 * * * *", zone=BERLIN)
    assert len(timetable.due_slots(cron, timetable.next_slot(cron, SPRING), year)) == 1 + 7 * 24


def test_evidence_is_old_after_two_intervals_or_two_slots_that_were_due() -> None:
    plain = Check(lane_id=7, interval_s=300)
    assert timetable.goes_stale(plain, SPRING) == SPRING + timedelta(seconds=600)
    daily = Check(lane_id=7, cron="0 9 * * 1-5", zone="UTC")  # SPRING is a Saturday
    assert timetable.goes_stale(daily, SPRING).strftime("%a %H:%M") == "Tue 09:01"


def test_evidence_does_not_age_in_quiet_hours() -> None:
    order = Check(lane_id=7, interval_s=300, quiet_from=time(22), quiet_to=time(7), zone="UTC")
    evening = datetime(2026, 3, 28, 21, 58, tzinfo=UTC)
    assert timetable.goes_stale(order, evening) >= datetime(2026, 3, 29, 7, 5, tzinfo=UTC)
