"""Tasks make incidents of what they write, and the tick of what a death left behind."""

from __future__ import annotations

import pytest

from checks import simulator
from panel import tasks
from panel.models import Incident, Run
from tests import make
from tests.panel.incidents.lives import KEY, a_round, lanes
from tests.panel.time.doors import due_check

pytestmark = pytest.mark.django_db


def test_a_climb_that_breaks_opens_an_incident() -> None:
    with simulator.serve("vllm", key="sk-another-0123456789abcdef", models=("qwen3-8b",)) as server:
        check = due_check(server, down_k=1, down_n=1)
        tasks.climb([make.run(check).pk])
    incident = Incident.objects.get()
    assert (incident.reason, incident.key_number) == (Run.objects.get().reason, 1)


def test_the_tick_follows_what_nobody_followed() -> None:
    team = make.team()
    a_round(lanes(team, 1), 0, KEY)
    tasks.tick()
    assert Incident.objects.filter(team=team, closed_at=None).count() == 1
