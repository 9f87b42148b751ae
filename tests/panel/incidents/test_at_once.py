"""Several followers at once, on the database in use: nothing is opened, joined or told twice."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from panel import incidents
from panel.models import Incident, IncidentLane, Notice, Transition
from tests import make
from tests.panel.incidents.lives import KEY, a_round, a_route, many_lanes
from tests.panel.time.test_faults import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_followers_at_once_open_one_incident_and_plan_one_message() -> None:
    team = make.team()
    a_route(team)
    now = a_round(many_lanes(team, 60), 0, KEY)
    follow = partial(incidents.follow, now, 25)
    assert at_once(follow, follow, follow, partial(incidents.catch_up, now)) == [None] * 4
    incidents.follow(now)
    assert (Incident.objects.count(), IncidentLane.objects.count(), Notice.objects.count()) == (1, 60, 1)
    assert not Transition.objects.filter(followed=False).exists()


def test_a_worker_that_writes_while_another_follows_loses_nothing() -> None:
    team = make.team()
    checks = many_lanes(team, 20)
    now = a_round(checks[:10], 0, KEY)
    at_once(partial(incidents.follow, now), partial(a_round, checks[10:], 1, KEY))
    incidents.follow(now + timedelta(minutes=2))
    assert IncidentLane.objects.filter(incident=Incident.objects.get()).count() == 20
