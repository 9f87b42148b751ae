"""What a Prometheus reads: numbers that are right, for who has the token, and nobody's names."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from panel import health, tasks
from panel.health import pulses
from panel.health.queues import depths
from panel.models import Lane, LaneDay, LaneState
from tests import make
from tests.panel.notices.told import channel, incident, queued

pytestmark = pytest.mark.django_db
NOON, TOKEN = make.NOON, "0123456789abcdef0123456789abcdef"


def read() -> dict[tuple[str, ...], float]:
    """Each number by its name and the values of its labels."""
    text = health.metrics(NOON).decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_without_a_token_in_the_settings_there_is_no_page() -> None:
    assert Client().get("/metrics").status_code == 404


@pytest.mark.parametrize("said", [None, "Bearer ", f"Bearer {TOKEN}x", TOKEN, "Bearer é"])
def test_who_does_not_name_the_token_is_refused(settings, said: str | None) -> None:
    settings.METRICS_TOKEN = TOKEN
    headers = {"Authorization": said} if said is not None else {}
    answer = Client().get("/metrics", headers=headers)
    assert (answer.status_code, answer.content) == (401, b"")


def test_who_names_the_token_reads_the_text_of_prometheus(settings) -> None:
    settings.METRICS_TOKEN = TOKEN
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    assert b"preflight_broker_up 1.0" in answer.content


def test_lanes_are_counted_by_state_and_those_out_of_use_are_not() -> None:
    check = make.check()
    LaneState.objects.filter(lane=check.lane).update(state="down")
    make.check(paused_at=NOON)
    found = read()
    assert Lane.objects.count() == 6
    assert (found["preflight_lanes", "down"], found["preflight_lanes", "paused"]) == (1, 1)
    assert sum(value for key, value in found.items() if key[0] == "preflight_lanes") == 2


def test_open_runs_and_how_long_the_oldest_waits() -> None:
    check = make.check()
    make.run(check, NOON - timedelta(seconds=90))
    make.run(check, NOON - timedelta(seconds=30), state="running")
    found = read()
    assert (found["preflight_runs_open", "queued"], found["preflight_runs_open", "running"]) == (1, 1)
    assert found["preflight_runs_oldest_queued_seconds",] == 90


def test_what_runs_found_is_summed_over_the_day() -> None:
    for check in (make.check(), make.check()):
        LaneDay.objects.create(lane=check.lane, day=NOON.date(), ok=3, down=1, tokens=50)
        LaneDay.objects.create(lane=check.lane, day=NOON.date() - timedelta(days=1), ok=9)
    found = read()
    assert found["preflight_runs_total", "ok"] == 6
    assert (found["preflight_runs_total", "down"], found["preflight_tokens_total",]) == (2, 100)


def test_how_long_each_part_has_been_silent() -> None:
    pulses.note_worker(["shanghai"], clock=True, now=NOON - timedelta(seconds=40))
    assert read()["preflight_pulse_age_seconds", "worker", "shanghai"] == 40
    assert read()["preflight_pulse_age_seconds", "beat", ""] == 40


def test_messages_that_wait_are_counted_in_a_real_broker() -> None:
    check = make.check()
    asked = make.run(check, NOON, trigger="person")
    tasks.send([make.run(check, NOON + timedelta(1)), asked])
    assert depths(["panel", "elsewhere"]) == {"panel": 2, "elsewhere": 0}


def test_a_broker_that_is_gone_is_a_number_and_no_error(settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    found = read()
    assert found["preflight_broker_up",] == 0
    assert not [key for key in found if key[0] == "preflight_queue_messages"]


def test_notices_and_open_incidents_are_counted() -> None:
    team = make.team()
    queued(channel(team), state="dead")
    incident(team)
    incident(team, closed_at=NOON)
    assert read()["preflight_notices", "dead"] == 1
    assert read()["preflight_incidents_open",] == 1


def test_no_name_of_anybody_is_in_it() -> None:
    team = make.team("canary-team")
    queued(channel(team, secret="https://canary.example/hook"))
    incident(team)
    make.profile(team, name="canary profile")
    assert b"canary" not in health.metrics(NOON)


def test_it_asks_as_much_for_one_lane_as_for_many() -> None:
    asked = []
    for _ in range(2):
        for _ in range(3):
            make.run(make.check())
        with CaptureQueriesContext(connection) as queries:
            health.metrics(NOON)
        asked.append(len(queries))
    assert asked == [8, 8]
