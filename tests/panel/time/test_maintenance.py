"""Maintenance: what fails meanwhile is evidence and nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine

from panel import history, ledger, maintenance
from panel.actions import Refused
from panel.actions import maintenance as deeds
from panel.actions.maintenance import MaintenanceDraft
from panel.models import AuditEvent, Check, LaneHour, Maintenance, Membership, Role, Transition
from tests import make
from tests.make import NOON
from tests.panel.time.outcomes import live, state_of

pytestmark = pytest.mark.django_db
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def lead(db: None) -> Membership:
    return make.member(role=Role.LEAD)


def planned(lead: Membership, **fields) -> Maintenance:
    """Plan one at noon, for an hour unless told otherwise."""
    said = {"reason": "The relay moves.", "ends_at": NOON + HOUR} | fields
    with time_machine.travel(NOON, tick=False):
        return deeds.plan(actor=lead, draft=MaintenanceDraft(**said))


def state_at(check: Check, at) -> str:
    (row,) = history.overview(check.lane.profile.team, at).rows
    return next(cell.now.state for cell in row.cells if cell.now.lane_id == check.lane_id)


def test_failures_in_maintenance_move_no_state_and_are_counted_apart(lead: Membership) -> None:
    check = make.check(lead.team)
    live(check, "o", start=NOON - MINUTE)
    planned(lead)
    live(check, "dddo", start=NOON + MINUTE)
    hour = LaneHour.objects.get(lane=check.lane, hour=NOON)
    assert (hour.maintenance, hour.down, hour.worst_first) == (4, 0, "maintenance")
    assert Transition.objects.filter(lane=check.lane, after="down").count() == 0
    assert state_of(check).state == "ok"


def test_a_failure_after_the_end_starts_its_count_anew(lead: Membership) -> None:
    check = make.check(lead.team)
    live(check, "o", start=NOON - MINUTE)
    planned(lead)
    live(check, "ddd", start=NOON + MINUTE)
    live(check, "d", start=NOON + HOUR)
    assert (state_of(check).state, state_of(check).status) == ("ok", "down")
    live(check, "d", start=NOON + HOUR + MINUTE)
    assert state_of(check).state == "down"


def test_a_lane_that_recovers_in_maintenance_is_up_again(lead: Membership) -> None:
    check = make.check(lead.team)
    live(check, "dd", start=NOON - 2 * MINUTE)
    planned(lead)
    live(check, "o", start=NOON + MINUTE)
    assert state_of(check).state == "ok"


def test_a_page_says_maintenance_from_its_start_to_its_end(lead: Membership) -> None:
    check = make.check(lead.team)
    live(check, "o", start=NOON - MINUTE)
    planned(lead, profile=check.lane.profile)
    assert [state_at(check, NOON + late) for late in (MINUTE, HOUR)] == ["maintenance", "unknown"]


@pytest.mark.parametrize("scope", ["team", "profile", "lane", "host"])
def test_it_covers_what_it_names_and_no_more(lead: Membership, scope: str) -> None:
    inside, outside = make.check(lead.team), make.check()
    host = make.host(lead.team)
    make.recipe(inside.lane.profile, host)
    named = {"profile": inside.lane.profile, "lane": inside.lane, "host": host}
    planned(lead, **({scope: named[scope]} if scope in named else {}))
    assert maintenance.covers(state_of(inside).lane, NOON)
    assert not maintenance.covers(state_of(outside).lane, NOON)
    sister = inside.lane.profile.lanes.get(kind="rollout")
    assert maintenance.covers(sister, NOON) is (scope != "lane")


def test_what_is_planned_ahead_begins_with_the_sweep_and_ends_by_itself(lead: Membership) -> None:
    check = make.check(lead.team)
    planned(lead, starts_at=NOON + HOUR, ends_at=NOON + 2 * HOUR)
    seen = []
    for late in (0, 60, 119, 120):
        maintenance.keep(NOON + late * MINUTE)
        seen.append(maintenance.covers(state_of(check).lane, NOON + late * MINUTE))
    assert seen == [False, True, True, False]


def test_it_comes_again_by_cron_until_its_end(lead: Membership) -> None:
    check = make.check(lead.team)
    planned(lead, ends_at=NOON + timedelta(days=2), cron="0 13 * * *", duration_s=1800)
    seen = []
    for late in (0, 60, 89, 90, 24 * 60 + 75, 48 * 60 + 75):
        maintenance.keep(NOON + late * MINUTE)
        seen.append(maintenance.covers(state_of(check).lane, NOON + late * MINUTE))
    assert seen == [False, True, True, False, True, False]


def test_ended_early_it_covers_nothing_from_then_on(lead: Membership) -> None:
    check, row = make.check(lead.team), planned(lead)
    assert maintenance.active(lead.team, NOON + MINUTE)
    with time_machine.travel(NOON + 10 * MINUTE, tick=False):
        deeds.end(actor=lead, row=row)
        deeds.end(actor=lead, row=row)
    assert not maintenance.covers(state_of(check).lane, NOON + 11 * MINUTE)
    assert maintenance.active(lead.team, NOON + 11 * MINUTE) == []
    assert AuditEvent.objects.filter(noun="maintenance").count() == 2


def test_of_two_at_once_the_longer_holds(lead: Membership) -> None:
    check = make.check(lead.team)
    planned(lead)
    planned(lead, lane=check.lane, ends_at=NOON + 2 * HOUR)
    assert state_of(check).maintained_until == NOON + 2 * HOUR


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"reason": " "}, "reason"),
        ({"ends_at": NOON}, "ends_at"),
        ({"ends_at": NOON + timedelta(days=400)}, "ends_at"),
        ({"cron": "nonsense", "duration_s": 600}, "cron"),
        ({"cron": "0 9 * * *", "duration_s": 600}, "cron"),
        ({"cron": "30 12 * * *"}, "duration_min"),
        ({"cron": "30 12 * * *", "duration_s": 600, "zone": "Mars/Olympus"}, "zone"),
    ],
)
def test_what_has_no_reason_no_end_or_never_comes_is_refused(lead: Membership, fields, field: str) -> None:
    with pytest.raises(Refused) as refusal:
        planned(lead, **fields)
    assert refusal.value.field == field


def test_another_teams_lane_is_no_scope(lead: Membership) -> None:
    with pytest.raises(Refused):
        planned(lead, lane=make.check().lane)


def test_the_past_shows_what_was_stopped_though_nothing_ran(lead: Membership) -> None:
    resting, paused, untouched = make.check(lead.team), make.check(paused_at=NOON), make.check()
    planned(lead)
    for late in (0, 1, 31):
        ledger.mark_stopped(NOON + late * MINUTE)
    halves = {row.lane_id: (row.worst_first, row.worst_second) for row in LaneHour.objects.all()}
    assert halves[resting.lane_id] == ("maintenance", "maintenance")
    assert halves[paused.lane_id] == ("paused", "paused")
    assert untouched.lane_id not in halves


def test_a_half_hour_that_has_its_word_is_not_marked_again(lead, django_assert_num_queries) -> None:
    make.check(paused_at=NOON)
    ledger.mark_stopped(NOON)
    with django_assert_num_queries(2):
        ledger.mark_stopped(NOON + MINUTE)


def test_a_sweep_without_maintenance_asks_two_queries(lead: Membership, django_assert_num_queries) -> None:
    make.check(lead.team)
    with django_assert_num_queries(2):
        maintenance.keep(NOON)
