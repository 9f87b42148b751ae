"""A thousand lanes that fail at once for one reason: one incident, and one message a route."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from checks import simulator
from panel import tasks
from panel.models import Check, Incident, IncidentLane, LaneHour, LaneState, Notice, Run, Team
from tests import make
from tests.drills.catcher import Catcher, catching
from tests.drills.furnish import KEY
from tests.panel.notices.told import SIGN, channel, route

pytestmark = [pytest.mark.drill, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
LANES = 1000


@pytest.fixture
def relay() -> Iterator[simulator.Server]:
    with simulator.serve("vllm", key=KEY) as server:
        yield server


@pytest.fixture
def catchers() -> Iterator[list[Catcher]]:
    with catching() as first, catching() as second:
        yield [first, second]


def lanes_of(team: Team, relay: simulator.Server) -> None:
    """A thousand lanes at one endpoint, written in bulk; one failure makes them red."""
    endpoint = make.endpoint(team, key=KEY, base_url=relay.base_url, origin=relay.origin)
    first = make.profile(team, lanes=("agent",), endpoint=endpoint)
    Check.objects.update(down_k=1, down_n=1)
    lane, order = first.lanes.get(kind="agent"), Check.objects.get(lane__kind="agent")
    profiles = type(first).objects.bulk_create(
        type(first)(team=team, name=f"many {n}", model=first.model, version=1, endpoint=endpoint)
        for n in range(LANES - 1)
    )
    made = type(lane).objects.bulk_create(type(lane)(profile=each, kind="agent") for each in profiles)
    LaneState.objects.bulk_create(LaneState(lane=each) for each in made)
    Check.objects.bulk_create(
        Check(lane=each, down_k=1, down_n=1, interval_s=order.interval_s) for each in made
    )


def climb_all() -> None:
    """Run one slot of every lane, in the batches that the tick makes."""
    orders = Check.objects.filter(lane__in_use=True).order_by("pk")
    now = datetime.now(UTC)
    runs = Run.objects.bulk_create(Run(check_order=each, slot=now, lease_until=now) for each in orders)
    for begin in range(0, len(runs), tasks.BATCH):
        tasks.climb([run.pk for run in runs[begin : begin + tasks.BATCH]])


def test_a_thousand_lanes_behind_one_refused_key_are_one_incident_and_one_message_a_route(
    relay: simulator.Server, catchers: list[Catcher]
) -> None:
    team = make.team()
    lanes_of(team, relay)
    for catcher in catchers:
        route(channel(team, secret=catcher.url, sign=SIGN))
    relay.fault = "key_refused"
    climb_all()
    incident = Incident.objects.get()
    assert IncidentLane.objects.filter(incident=incident, recovered_at=None).count() == LANES
    tasks.send_notices()
    assert [catcher.kinds() for catcher in catchers] == [["opened"]] * 2
    relay.fault = None
    climb_all()
    tasks.send_notices()
    assert [catcher.kinds() for catcher in catchers] == [["opened", "recovered"]] * 2
    assert not [catcher for catcher in catchers if catcher.doubles()]
    assert Incident.objects.get().closed_at is not None
    assert Notice.objects.exclude(state="sent").count() == 0
    assert sum(hour.ok + hour.down for hour in LaneHour.objects.all()) == 2 * LANES
