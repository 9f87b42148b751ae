"""What a report says of a week that is known."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from panel.models import Incident, Lane, LaneState, Team
from panel.reports.body import make_body
from panel.reports.headline import Pattern, headline
from panel.reports.periods import around, newest_complete
from panel.reports.shapes import Body, LaneLine, from_json, to_json
from panel.reports.todo import What
from tests import make
from tests.panel.reports.scene import MORNING, NEXT_MONDAY, WEDNESDAY, pause, scene

pytestmark = pytest.mark.django_db


def week_of(team: Team, zone: str = "UTC") -> Body:
    return make_body(team, newest_complete("week", zone, MORNING), MORNING)


def lane_of(body: Body, profile: str, kind: str) -> LaneLine:
    return next(lane for lane in body.lanes if (lane.profile, lane.kind) == (profile, kind))


def queries(team: Team) -> int:
    with CaptureQueriesContext(connection) as seen:
        week_of(team)
    return len(seen)


def test_the_four_numbers_are_those_of_the_week_and_of_the_one_before():
    body = week_of(scene().team)
    assert body.available == pytest.approx((2005 / 2016 + 3) / 4)
    assert (body.available_before, body.evidence) == (1.0, 1.0)
    assert (body.incidents, body.incidents_before, body.outages) == (1, 0, 1)
    assert (body.longest_s, body.longest_before_s, body.longest_lane) == (58 * 60, 0, 0)
    assert (body.tokens, body.tokens_before) == (4 * 7 * 1000, 4 * 7 * 1000)


def test_an_hour_of_failures_is_one_bar_and_its_commonest_reason_is_named():
    lane = lane_of(week_of(scene().team), "grpo-prod", "agent")
    assert lane.bars == "o" * 29 + "d" + "o" * 54
    assert (lane.down_s, lane.degraded_s, lane.worst_reason) == (58 * 60, 0, "auth_invalid_key")


def test_a_latency_is_held_against_the_period_before_and_against_its_limit():
    lane = lane_of(week_of(scene().team), "search-agent", "replay")
    assert lane.p95_ms is not None
    assert lane.p95_ms == pytest.approx(900, rel=0.1)
    assert lane.p95_before_ms is not None
    assert lane.p95_before_ms == pytest.approx(300, rel=0.1)
    assert (lane.limit_ms, lane.degraded_s) == (500, 6 * 3600)


def test_an_incident_says_what_broke_how_long_and_who_took_it():
    (broke,) = week_of(scene().team).broke
    assert (broke.number, broke.reason, broke.where) == (126, "auth_invalid_key", "relay-main")
    assert (broke.lasted_s, broke.taken_by, broke.lanes) == (58 * 60, "Lin Yue", 1)


def test_an_incident_that_another_explains_is_no_line_of_its_own():
    here = scene()
    Incident.objects.create(
        team=here.team, number=127, cause="other", reason="auth_invalid_key", worst="down",
        parent=Incident.objects.get(), opened_at=WEDNESDAY,
    )  # fmt: skip
    assert week_of(here.team).incidents == 1


def test_who_holds_a_dead_key_comes_before_who_holds_an_old_version():
    body = week_of(scene().team)
    assert [(taken.person, taken.stale) for taken in body.holders] == [
        ("Lin Yue", "key"),
        ("Chen Bo", "version"),
    ]
    assert len(body.taken) == 2


def test_what_to_do_names_the_key_the_bundle_and_the_slow_lane():
    body = week_of(scene().team)
    assert [todo.what for todo in body.todo] == [What.ROTATE_KEY, What.REPLACE_BUNDLE, What.SPEED_UP]


def test_an_open_incident_that_nobody_took_is_the_first_thing_to_do():
    here = scene()
    Incident.objects.update(closed_at=None, taken_by=None)
    first = week_of(here.team).todo[0]
    assert (first.what, first.number) == (What.TAKE_INCIDENT, 126)


def test_the_time_in_which_a_broken_lane_was_paused_is_no_outage():
    here = scene()
    lane = here.profile.lanes.get(kind="agent")
    lane.transitions.filter(before="down").delete()
    pause(lane, WEDNESDAY + timedelta(minutes=10))
    assert lane_of(week_of(here.team), "grpo-prod", "agent").down_s == 600


def test_an_outage_that_began_before_the_week_counts_from_its_first_moment():
    here = scene()
    lane = here.profile.lanes.get(kind="agent")
    lane.transitions.filter(after="down").update(at=NEXT_MONDAY - timedelta(days=8))
    lane.transitions.filter(before="down").update(at=NEXT_MONDAY - timedelta(days=6))
    body = week_of(here.team)
    assert (body.longest_s, body.longest_before_s) == (24 * 3600, 24 * 3600)


def test_hours_fall_into_the_week_of_the_zone():
    east, west = (
        week_of(scene_team, zone) for scene_team in [scene().team] for zone in ("Asia/Shanghai", "UTC")
    )
    lane = lane_of(east, "grpo-prod", "agent")
    assert lane.bars.index("d") == 33
    assert east.runs == west.runs


def test_a_period_under_way_has_blank_bars_ahead():
    body = make_body(scene().team, around("week", "UTC", WEDNESDAY), WEDNESDAY)
    assert body.is_under_way
    assert lane_of(body, "search-agent", "agent").bars[-4:].strip(".") == "oooo"


def test_a_team_without_lanes_gets_a_report_that_says_so():
    body = week_of(make.team())
    assert (body.available, body.lanes) == (None, ())
    assert headline(body).pattern is Pattern.NO_LANES


def test_a_lane_that_was_never_seen_is_unknown_and_not_zero():
    body = week_of(make.profile(lanes=("agent",)).team)
    assert (body.available, body.lanes[0].available, body.lanes[0].p95_ms) == (None, None, None)
    assert headline(body).pattern is Pattern.NO_EVIDENCE


@pytest.mark.parametrize(
    ("state", "keep", "pattern"),
    [
        ("ok", ("down", "degraded"), Pattern.OUTAGES_AND_SLOW),
        ("ok", ("down",), Pattern.OUTAGES),
        ("ok", ("degraded",), Pattern.SLOW),
        ("ok", (), Pattern.CALM),
        ("down", ("down",), Pattern.STILL_DOWN),
    ],
)
def test_the_headline_says_what_is_worst_and_still_true(state: str, keep: tuple[str, ...], pattern: Pattern):
    here = scene()
    for bad in {"down", "degraded"} - set(keep):
        for lane in Lane.objects.all():
            lane.transitions.filter(after=bad).delete()
    if "down" not in keep:
        Incident.objects.all().delete()
    if state == "down":
        here.profile.lanes.get(kind="agent").transitions.filter(before="down").delete()
    LaneState.objects.filter(lane__profile=here.profile, lane__kind="agent").update(state=state)
    assert headline(week_of(here.team)).pattern is pattern


def test_what_nobody_looked_at_is_not_said_to_be_well():
    here = scene()
    for lane in Lane.objects.all():
        lane.transitions.exclude(after="ok").delete()
    Incident.objects.all().delete()
    make.profile(here.team, name="unseen", lanes=("agent",))
    said = headline(week_of(here.team))
    assert (said.pattern, said.seen) == (Pattern.CALM_WHERE_SEEN, said.lanes - 1)


def test_a_lane_that_broke_after_the_week_is_no_news_of_the_week():
    here = scene()
    LaneState.objects.filter(lane__profile=here.profile, lane__kind="agent").update(state="down")
    body = week_of(here.team)
    assert headline(body).pattern is Pattern.OUTAGES_AND_SLOW
    assert lane_of(body, "grpo-prod", "agent").state == "down"


def test_a_report_asks_the_same_number_of_queries_however_much_there_is():
    small = queries(make.profile(lanes=("agent",)).team)
    assert queries(scene(lanes=3).team) == small <= 16


def test_a_body_comes_back_from_its_row_as_it_was():
    body = week_of(scene().team)
    assert from_json(to_json(body)) == body
