"""From confirmed changes to incidents and what is planned to be told."""

from __future__ import annotations

from datetime import timedelta

import pytest

from checks import Reason, Rung
from panel import incidents
from panel.models import Check, Incident, IncidentEntry, IncidentLane, Lane, LaneState, Notice, Transition
from tests import make
from tests.panel.incidents.lives import KEY, NET, a_round, a_route, lanes, live, many_lanes, open_ones

pytestmark = pytest.mark.django_db


@pytest.fixture
def team():
    return make.team()


def kinds(incident: Incident) -> list[str]:
    return list(IncidentEntry.objects.filter(incident=incident).values_list("kind", flat=True))


def told() -> list[str]:
    return list(Notice.objects.order_by("pk").values_list("kind", flat=True))


def test_a_confirmed_failure_opens_an_incident_and_plans_a_notice(team) -> None:
    a_route(team)
    (check,) = lanes(team, 1)
    live([check], 0)
    live([check], 1, KEY)
    (incident,) = open_ones(team)
    assert (incident.number, incident.worst, incident.reason, incident.rung) == (1, "down", KEY, 2)
    assert incident.cause == f"key|{check.lane.effective_endpoint.code}|v1"
    assert (incident.endpoint, incident.key_number) == (check.lane.effective_endpoint, 1)
    assert (kinds(incident), told()) == (["opened"], ["opened"])


def test_a_failure_that_is_not_confirmed_opens_nothing(team) -> None:
    live(lanes(team, 1, down_k=2, down_n=2), 0, KEY)
    assert open_ones(team) == []


def test_lanes_with_one_cause_share_an_incident_and_one_message(team) -> None:
    a_route(team)
    checks = lanes(team, 3)
    live(checks[:2], 0, KEY)
    live(checks[2:], 1, KEY)
    (incident,) = open_ones(team)
    assert (incident.lanes.count(), kinds(incident), told()) == (3, ["opened", "joined"], ["opened"])
    assert [entry.say["count"] for entry in incident.entries.all()] == [2, 1]


def test_two_causes_are_two_incidents_numbered_within_the_team(team) -> None:
    live(lanes(make.team(), 1), 0, KEY)
    live(lanes(team, 1), 0, KEY)
    live(lanes(team, 1), 1, KEY)
    assert [incident.number for incident in open_ones(team)] == [1, 2]


def test_it_closes_itself_when_the_last_lane_recovered_and_says_so_once(team) -> None:
    a_route(team)
    checks = lanes(team, 2)
    live(checks, 0, KEY)
    live(checks[:1], 1)
    assert open_ones(team)
    live(checks[1:], 2)
    incident = Incident.objects.get()
    assert (incident.closed_at is not None, told()) == (True, ["opened", "recovered"])
    assert kinds(incident) == ["opened", "recovered", "recovered", "closed"]


def test_the_same_cause_later_is_a_new_incident(team) -> None:
    checks = lanes(team, 1)
    for minute, reason in enumerate((KEY, None, KEY)):
        a_round(checks, minute, reason)
    incidents.follow(make.NOON + timedelta(hours=1))
    assert [bool(each.closed_at) for each in Incident.objects.order_by("number")] == [True, False]


def test_what_is_followed_is_not_followed_again(team) -> None:
    now = live(lanes(team, 1), 0, KEY)
    incidents.follow(now)
    assert not Transition.objects.filter(followed=False).exists()
    assert IncidentEntry.objects.count() == 1


def test_getting_worse_changes_the_incident_and_is_told(team) -> None:
    a_route(team)
    endpoint = make.endpoint(team)
    checks = lanes(team, 2, endpoint)
    live(checks[:1], 0, Reason.RATE_LIMITED)
    Incident.objects.update(worst="degraded")
    Notice.objects.update(state="sent", attempts=1)
    live(checks[1:], 1, Reason.RATE_LIMITED)
    assert (open_ones(team)[0].worst, told()) == ("down", ["opened", "changed"])


def test_a_lane_whose_cause_changes_moves_to_the_other_incident(team) -> None:
    checks = lanes(team, 1)
    live(checks, 0, slow=True)
    live(checks, 1, KEY)
    first, second = Incident.objects.order_by("number")
    assert (first.worst, bool(first.closed_at), second.worst, second.closed_at) == (
        "degraded",
        True,
        "down",
        None,
    )
    assert IncidentLane.objects.filter(recovered_at=None).get().incident == second


def test_no_evidence_opens_nothing_and_stands_in_the_timeline_of_what_is_open(team) -> None:
    one, other = lanes(team, 2)
    live([one], 0, KEY)
    for check in (one, other):
        Transition.objects.create(
            lane=check.lane, at=make.NOON + timedelta(hours=1), before="ok", after="unknown"
        )
    incidents.follow(make.NOON + timedelta(hours=1))
    (incident,) = open_ones(team)
    assert kinds(incident) == ["opened", "changed"]
    assert incident.entries.last().say["state"] == "unknown"


def test_a_thousand_lanes_with_one_cause_are_one_incident_one_message_and_few_queries(
    team, django_assert_max_num_queries
) -> None:
    a_route(team)
    checks = many_lanes(team, 1000)
    now = a_round(checks, 0, KEY)
    with django_assert_max_num_queries(40):
        incidents.follow(now)
    (incident,) = open_ones(team)
    assert (incident.lanes.count(), kinds(incident), told()) == (1000, ["opened"], ["opened"])
    now = a_round(checks, 1)
    with django_assert_max_num_queries(40):
        incidents.follow(now)
    assert open_ones(team) == []


def test_nothing_new_costs_one_query(team, django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        incidents.follow(make.NOON)


def test_a_lane_in_maintenance_opens_nothing_until_it_ends(team) -> None:
    a_route(team)
    (check,) = lanes(team, 1)
    begins, ends = make.NOON - timedelta(hours=1), make.NOON + timedelta(hours=1)
    now = a_round([check], 0, KEY)
    LaneState.objects.update(maintained_since=begins, maintained_until=ends)
    incidents.follow(now)
    incidents.catch_up(now)
    assert (open_ones(team), told()) == ([], [])
    incidents.catch_up(ends)
    assert (open_ones(team)[0].opened_at, told()) == (ends, ["opened"])


def test_a_flapping_lane_stays_in_its_incident_until_it_is_calm(team) -> None:
    a_route(team)
    checks = lanes(team, 1)
    for minute, reason in enumerate((None, KEY, None, KEY, None, KEY, None)):
        now = live(checks, minute, reason)
    assert (len(open_ones(team)), Incident.objects.count()) == (1, 2)
    incidents.catch_up(now)
    assert open_ones(team)
    for minute in range(7, 12):
        now = live(checks, minute)
    incidents.catch_up(now)
    assert open_ones(team) == []


@pytest.mark.parametrize("how", ["out of use", "deleted"])
def test_an_incident_ends_whose_lanes_are_no_more(team, how: str) -> None:
    (check,) = lanes(team, 1)
    now = live([check], 0, KEY)
    if how == "deleted":
        check.lane.profile.delete()
    else:
        Lane.objects.update(in_use=False)
    incidents.catch_up(now + timedelta(minutes=1))
    assert open_ones(team) == []


def test_catching_up_with_nothing_costs_two_queries(team, django_assert_num_queries) -> None:
    now = live(lanes(team, 1), 0, KEY)
    with django_assert_num_queries(2):
        incidents.catch_up(now)


def test_a_death_before_following_loses_nothing(team) -> None:
    """The tick finds what the worker wrote and did not follow."""
    now = a_round(lanes(team, 1), 0, KEY)
    assert open_ones(team) == []
    incidents.follow(now + timedelta(seconds=2))
    assert len(open_ones(team)) == 1


def parents(team) -> dict[str, str]:
    return {each.reason: each.parent.reason if each.parent else "" for each in open_ones(team)}


def test_an_endpoint_that_is_down_explains_the_upper_rungs_and_no_refused_key(team) -> None:
    endpoint = make.endpoint(team)
    one, two, three = lanes(team, 3, endpoint)
    Check.objects.update(top_rung=5)
    checks = {check.pk: check for check in Check.objects.filter(lane__in_use=True)}
    live([checks[one.pk]], 0, Reason.REWARD_MISSING, rung=Rung.ROLLOUT)
    live([checks[two.pk]], 1, KEY)
    live([checks[three.pk]], 2, NET, rung=Rung.NETWORK)
    assert parents(team) == {
        "reward_missing": "connect_timeout",
        "auth_invalid_key": "",
        "connect_timeout": "",
    }
    live([checks[three.pk]], 3)
    assert parents(team) == {"reward_missing": "", "auth_invalid_key": ""}


def test_a_host_that_is_down_explains_the_server_that_runs_on_it(team) -> None:
    host = make.host(team, address="gpu-a12.example")
    endpoint = make.endpoint(team, base_url="http://gpu-a12.example:8000/v1")
    one, two = lanes(team, 2, endpoint)
    make.recipe(two.lane.profile, host)
    live([one], 0, NET, rung=Rung.NETWORK)
    live([two], 1, Reason.HOST_SILENT)
    assert parents(team) == {"connect_timeout": "host_silent", "host_silent": ""}


def test_a_dying_endpoint_that_fails_in_several_ways_is_told_once(team) -> None:
    one, two = lanes(team, 2, make.endpoint(team))
    live([one], 0, Reason.BAD_GATEWAY_UPSTREAM_DOWN)
    live([two], 1, Reason.UPSTREAM_OVERLOADED)
    assert parents(team)["upstream_overloaded"] == "bad_gateway_upstream_down"
