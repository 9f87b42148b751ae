"""A lane that nothing is heard of is unknown: by the sweep as by the page."""

from __future__ import annotations

from datetime import time, timedelta

import pytest

from panel import history, ledger
from panel.models import Check, Lane, LaneState, Transition
from tests import make
from tests.make import NOON
from tests.panel.time.outcomes import live, state_of

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def heard_of(letters: str = "o", **fields) -> Check:
    """A check whose newest evidence is of noon."""
    check = make.check(**({"interval_s": 60} | fields))
    live(check, letters, start=NOON - (len(letters) - 1) * MINUTE)
    return check


def shown(check: Check, at) -> tuple:
    (row,) = history.overview(check.lane.profile.team, at).rows
    (lane,) = (cell.now for cell in row.cells if cell.now.lane_id == check.lane_id)
    return lane.state, lane.since


def test_after_two_intervals_the_sweep_makes_a_transition_and_only_one() -> None:
    check = heard_of()
    went = state_of(check).stale_at
    assert ledger.call_unknown(NOON + MINUTE) == []
    (made,) = ledger.call_unknown(NOON + 5 * MINUTE)
    assert (made.before, made.after, made.reason, made.at) == ("ok", "unknown", "run_missed", went)
    assert ledger.call_unknown(NOON + 6 * MINUTE) == []
    assert not made.followed


@pytest.mark.parametrize("late", [1, 3, 600])
def test_page_and_sweep_say_the_same_before_and_after_the_sweep(late: int) -> None:
    check, now = heard_of(), NOON + late * MINUTE
    before = shown(check, now)
    ledger.call_unknown(now)
    assert shown(check, now) == before
    assert (before[0] == "unknown") is (late > 2)


def test_the_next_evidence_brings_it_back() -> None:
    check = heard_of()
    ledger.call_unknown(NOON + 5 * MINUTE)
    live(check, "o", start=NOON + 6 * MINUTE)
    assert shown(check, NOON + 6 * MINUTE)[0] == "ok"
    assert list(Transition.objects.order_by("pk").values_list("after", flat=True)) == ["ok", "unknown", "ok"]


def test_a_failure_after_silence_is_what_is_wrong_and_not_the_silence() -> None:
    check = heard_of()
    ledger.call_unknown(NOON + 5 * MINUTE)
    live(check, "d", start=NOON + 6 * MINUTE)
    (finding,) = history.overview(check.lane.profile.team, NOON + 6 * MINUTE).findings
    assert finding.reason == "auth_invalid_key"


@pytest.mark.parametrize("fields", [{"paused_at": NOON}, {"interval_s": 3600}])
def test_a_paused_lane_and_one_not_yet_due_are_left_as_they_are(fields) -> None:
    check = heard_of(**fields)
    assert ledger.call_unknown(NOON + 10 * MINUTE) == []
    assert state_of(check).state == "ok"


def test_a_lane_out_of_use_is_left_as_it_is() -> None:
    check = heard_of()
    Lane.objects.filter(pk=check.lane_id).update(in_use=False)
    assert ledger.call_unknown(NOON + 10 * MINUTE) == []


def test_a_lane_in_maintenance_has_until_two_intervals_after_it() -> None:
    check = heard_of()
    LaneState.objects.update(maintained_since=NOON, maintained_until=NOON + 30 * MINUTE)
    assert ledger.call_unknown(NOON + 10 * MINUTE) == []
    assert ledger.call_unknown(NOON + 31 * MINUTE) == []
    assert len(ledger.call_unknown(NOON + 33 * MINUTE)) == 1
    assert shown(check, NOON + 33 * MINUTE)[0] == "unknown"


def test_a_night_of_quiet_hours_makes_nothing_unknown() -> None:
    check = heard_of(quiet_from=time(12, 1), quiet_to=time(20))
    assert ledger.call_unknown(NOON + 7 * 60 * MINUTE) == []
    assert shown(check, NOON + 7 * 60 * MINUTE)[0] == "ok"
    assert len(ledger.call_unknown(NOON + 9 * 60 * MINUTE)) == 1


def test_a_lane_that_is_looked_at_again_counts_from_now() -> None:
    check = heard_of()
    ledger.renew([check.lane_id], NOON + 10 * MINUTE)
    assert ledger.call_unknown(NOON + 11 * MINUTE) == []
    assert len(ledger.call_unknown(NOON + 13 * MINUTE)) == 1


def test_a_thousand_lanes_are_called_in_parts_the_oldest_first() -> None:
    checks = [heard_of() for _ in range(3)]
    LaneState.objects.filter(lane=checks[2].lane_id).update(stale_at=NOON - MINUTE)
    first = ledger.call_unknown(NOON + 5 * MINUTE, limit=1)
    assert [made.lane_id for made in first] == [checks[2].lane_id]
    assert len(ledger.call_unknown(NOON + 5 * MINUTE)) == 2


@pytest.mark.parametrize("lanes", [1, 8])
def test_the_sweep_costs_the_same_queries_for_one_lane_and_for_many(lanes, django_assert_num_queries) -> None:
    for _ in range(lanes):
        heard_of()
    with django_assert_num_queries(5):  # two of them a savepoint
        assert len(ledger.call_unknown(NOON + 5 * MINUTE)) == lanes
