"""The days of lanes: what their hours say, added up as runs close."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from panel import ledger, rollups
from panel.ledger import hours
from panel.models import LaneDay, LaneHour, LaneState
from tests import make
from tests.panel.time.outcomes import live

pytestmark = pytest.mark.django_db
NOON = make.NOON
COUNTS = ("ok", "degraded", "down", "not_testable", "missed", "maintenance")


def test_a_day_counts_states_reasons_latencies_and_tokens() -> None:
    check = make.check()
    live(check, "ooddgn")
    day = LaneDay.objects.get(lane=check.lane)
    assert (day.day, day.worst) == (date(2026, 11, 30), "down")
    assert [getattr(day, name) for name in COUNTS] == [2, 1, 2, 1, 0, 0]
    assert day.reasons == {"auth_invalid_key": 2, "key_missing": 1}
    assert sum(rollups.counts(rollups.unpack(day.latency))) == 3
    assert day.tokens == 3 * 12


def test_a_day_is_what_its_hours_say() -> None:
    check = make.check()
    live(check, "odgnoodog" * 5, every=timedelta(minutes=17))
    live(check, "ood", start=NOON + timedelta(days=1))
    for day in LaneDay.objects.all():
        of_day = [row for row in LaneHour.objects.all() if row.hour.date() == day.day]
        for name in COUNTS:
            assert getattr(day, name) == sum(getattr(row, name) for row in of_day)
        merged = sum(
            rollups.unpack(half) for row in of_day for half in (row.latency_first, row.latency_second)
        )
        assert rollups.unpack(day.latency) == merged


def test_a_day_ends_at_midnight_of_utc() -> None:
    check = make.check()
    live(check, "oo", start=NOON.replace(hour=23, minute=59, second=30))
    assert dict(LaneDay.objects.values_list("day", "ok")) == {date(2026, 11, 30): 1, date(2026, 12, 1): 1}


def test_missed_slots_are_counted_in_their_day() -> None:
    check = make.check()
    hour = NOON.replace(hour=23)
    hours.count_missed([(check.lane_id, hour, 3), (check.lane_id, hour + timedelta(hours=1), 2)])
    assert list(LaneDay.objects.order_by("day").values_list("missed", flat=True)) == [3, 2]


def test_what_fails_in_maintenance_counts_as_maintenance_and_gives_no_reason() -> None:
    check = make.check()
    LaneState.objects.filter(lane=check.lane).update(
        maintained_since=NOON - timedelta(hours=1), maintained_until=NOON + timedelta(hours=1)
    )
    live(check, "dd")
    day = LaneDay.objects.get()
    assert (day.maintenance, day.down, day.reasons, day.worst) == (2, 0, {}, "maintenance")


def test_a_lane_s_days_outlive_its_runs_and_hours() -> None:
    check = make.check()
    live(check, "d", start=NOON - timedelta(days=500))
    ledger.prune(NOON)
    assert (LaneHour.objects.count(), LaneDay.objects.count()) == (0, 1)
