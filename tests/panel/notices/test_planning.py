"""Who is told of an incident, by which routes, and when."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest

from panel import notices
from panel.models import LaneState, Notice
from panel.notices.planning import after_quiet
from tests import make
from tests.panel.notices.told import NOW, channel, close, incident, queued, route

pytestmark = pytest.mark.django_db


def planned() -> list[tuple[str, str, datetime | None]]:
    rows = Notice.objects.order_by("pk").select_related("channel")
    return [(row.channel.name, row.kind, row.due_at) for row in rows]


def test_an_opening_is_planned_once_for_each_channel_however_often_it_is_asked() -> None:
    team = make.team()
    for name in ("a", "b"):
        row = channel(team, name=name)
        route(row)
        route(row)
    one = incident(team)
    notices.plan(one, "opened", NOW)
    notices.plan(one, "opened", NOW)
    assert planned() == [("a", "opened", NOW), ("b", "opened", NOW)]


def test_another_teams_channels_are_not_told() -> None:
    route(channel(make.team()))
    notices.plan(incident(make.team()), "opened", NOW)
    assert not planned()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"environments": ["production", "dev"]}, True),
        ({"environments": ["staging"]}, False),
        ({"states": ["down"]}, True),
        ({"states": ["degraded", "unknown"]}, False),
    ],
)
def test_a_route_takes_its_environments_and_states_alone(fields: dict[str, list[str]], told: bool) -> None:
    team = make.team()
    route(channel(team), **fields)
    notices.plan(incident(team), "opened", NOW)
    assert bool(planned()) is told


def test_a_channel_out_of_use_is_not_told() -> None:
    team = make.team()
    route(channel(team, enabled=False))
    notices.plan(incident(team), "opened", NOW)
    assert not planned()


def test_a_thousand_lanes_of_one_cause_are_one_message() -> None:
    team = make.team()
    route(channel(team))
    one = incident(team, lanes=30)
    notices.plan(one, "opened", NOW)
    said = Notice.objects.get().data
    assert (len(said["lanes"]), said["lane_count"]) == (8, 30)


def test_an_escalation_waits_for_its_minutes_from_the_opening() -> None:
    team = make.team()
    route(channel(team, name="late"), after_min=15)
    notices.plan(incident(team), "opened", NOW)
    assert planned() == [("late", "escalated", NOW + timedelta(minutes=15))]


def test_a_change_does_not_plan_an_escalation_twice() -> None:
    team = make.team()
    route(channel(team), after_min=15)
    one = incident(team)
    notices.plan(one, "opened", NOW)
    notices.plan(one, "changed", NOW + timedelta(minutes=1))
    assert len(planned()) == 1


def test_a_change_before_the_opening_was_sent_is_told_with_it() -> None:
    team = make.team()
    route(channel(team))
    one = incident(team)
    notices.plan(one, "opened", NOW)
    one.worst = "unknown"
    one.save()
    notices.plan(one, "changed", NOW + timedelta(seconds=1))
    notice = Notice.objects.get()
    assert (notice.kind, notice.data["state"]) == ("opened", "unknown")


def test_a_change_after_the_opening_was_sent_is_a_message_of_its_own() -> None:
    team = make.team()
    route(channel(team))
    one = incident(team)
    notices.plan(one, "opened", NOW)
    Notice.objects.update(state="sent", attempts=1)
    notices.plan(one, "changed", NOW + timedelta(minutes=1))
    assert [kind for _, kind, _ in planned()] == ["opened", "changed"]


def test_an_escalation_that_waits_says_how_it_is_when_its_time_comes() -> None:
    team = make.team()
    route(channel(team), after_min=15)
    one = incident(team)
    notices.plan(one, "opened", NOW)
    one.worst = "degraded"
    notices.plan(one, "changed", NOW + timedelta(minutes=1))
    said = Notice.objects.get().data
    assert (said["after_min"], said["state"]) == (15, "degraded")


def test_a_recovery_goes_where_the_incident_went() -> None:
    team = make.team()
    route(channel(team, name="told"))
    one = incident(team)
    notices.plan(one, "opened", NOW)
    route(channel(team, name="new"))
    close(one, NOW)
    notices.plan(one, "recovered", NOW)
    assert [(name, kind) for name, kind, _ in planned()] == [("told", "opened"), ("told", "recovered")]


def test_an_opening_of_lanes_that_flap_is_held() -> None:
    team = make.team()
    route(channel(team))
    one = incident(team)
    LaneState.objects.update(flapping=True)
    notices.plan(one, "opened", NOW)
    assert planned()[0][2] == NOW + timedelta(minutes=10)


QUIET = {"quiet_from": time(22), "quiet_to": time(7), "zone": "Asia/Shanghai"}
NIGHT = datetime(2026, 11, 30, 16, 0, tzinfo=UTC)  # midnight in Shanghai
MORNING = datetime(2026, 11, 30, 23, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("state", "quiet_all", "due", "expected"),
    [
        ("degraded", False, NIGHT, MORNING),
        ("down", False, NIGHT, NIGHT),
        ("down", True, NIGHT, MORNING),
        ("degraded", False, MORNING, MORNING),
        ("degraded", False, NIGHT + timedelta(hours=6), MORNING),
    ],
)
def test_quiet_hours_hold_all_but_what_is_down(
    state: str, quiet_all: bool, due: datetime, expected: datetime
) -> None:
    row = route(channel(make.team()), quiet_all=quiet_all, **QUIET)
    assert after_quiet(row, state, due) == expected


def test_quiet_hours_end_by_the_clock_on_the_wall_when_the_clock_is_set_back() -> None:
    row = route(channel(make.team()), quiet_from=time(22), quiet_to=time(7), zone="Europe/Berlin")
    evening = datetime(2026, 10, 24, 21, 0, tzinfo=UTC)  # 23:00, the night summer time ends
    assert after_quiet(row, "degraded", evening) == datetime(2026, 10, 25, 6, 0, tzinfo=UTC)


@pytest.mark.parametrize(("left", "days"), [(29, 30), (13.5, 14), (6, 7), (0.5, 1)])
def test_a_key_is_reminded_of_once_for_each_threshold(left: float, days: int) -> None:
    noon = make.NOON
    team = make.team()
    route(channel(team))
    make.endpoint(team).key_versions.update(expires_at=noon + timedelta(days=left))
    notices.plan_keys(noon)
    notices.plan_keys(noon + timedelta(minutes=15))
    assert Notice.objects.get().data["days"] == days


def test_a_key_is_not_reminded_of_at_night() -> None:
    team = make.team()
    route(channel(team))
    make.endpoint(team).key_versions.update(expires_at=make.NOON + timedelta(days=5))
    notices.plan_keys(make.NOON.replace(hour=23))
    assert Notice.objects.get().due_at == (make.NOON + timedelta(days=1)).replace(hour=9)


def test_an_expired_or_retired_key_is_not_reminded_of() -> None:
    team = make.team()
    route(channel(team))
    make.endpoint(team).key_versions.update(expires_at=make.NOON - timedelta(minutes=1))
    make.endpoint(team).key_versions.update(expires_at=make.NOON + timedelta(days=1), state="retired")
    notices.plan_keys(make.NOON)
    assert not planned()


def test_old_notices_are_let_go_and_those_on_their_way_are_kept() -> None:
    row = channel(make.team())
    queued(row, state="sent", made_at=NOW - timedelta(days=91))
    queued(row, state="queued", made_at=NOW - timedelta(days=91))
    notices.prune(NOW)
    assert Notice.objects.get().state == "queued"
