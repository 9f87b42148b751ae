"""The alarm when Preflight itself stops checking: once an outage, told by a process that goes on."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from panel import health, watchdog
from panel.models import Notice, Pulse
from tests import make
from tests.checks.local import serving
from tests.panel.notices.told import answering, channel, route

pytestmark = pytest.mark.django_db
NOON = make.NOON


def swept(at=NOON) -> None:
    Pulse.objects.update_or_create(name="tick", defaults={"at": at})


def told() -> list[str]:
    return [str(data["what"]) for data in Notice.objects.order_by("pk").values_list("data", flat=True)]


@pytest.fixture
def hears() -> None:
    route(channel(make.team()))


@pytest.mark.usefixtures("hears")
def test_an_outage_is_told_once_however_often_one_looks() -> None:
    swept()
    for minute in (3, 4, 5):
        health.look(NOON + timedelta(minutes=minute), silent=True)
    assert told() == ["silent"]


@pytest.mark.usefixtures("hears")
def test_its_end_is_told_once_and_a_second_outage_again() -> None:
    swept()
    health.look(NOON + timedelta(minutes=3), silent=True)
    swept(NOON + timedelta(minutes=9))
    for minute in (9, 10):
        health.look(NOON + timedelta(minutes=minute), silent=False)
    health.look(NOON + timedelta(minutes=20), silent=True)
    assert told() == ["silent", "back", "silent"]


@pytest.mark.usefixtures("hears")
def test_nothing_is_told_while_all_is_well_or_nothing_was_ever_swept() -> None:
    health.look(NOON, silent=False)
    health.look(NOON, silent=True)
    assert told() == []


def test_a_process_waits_two_minutes_by_its_own_clock() -> None:
    swept()
    clock = iter([0, 0, 119, 121])
    watch = health.Watch(lambda: next(clock))
    assert [watch.silent(), watch.silent(), watch.silent()] == [False, False, True]


def test_a_machine_that_slept_raises_no_alarm() -> None:
    swept(NOON - timedelta(hours=9))
    watch = health.Watch(lambda: 1000.0)
    assert not watch.silent()


def test_a_sweep_that_comes_again_ends_the_silence() -> None:
    swept()
    clock = iter([0, 0, 200, 200, 200])
    watch = health.Watch(lambda: next(clock))
    watch.silent()
    swept(NOON + timedelta(minutes=3))
    assert not watch.silent()


def test_the_alarm_is_sent_while_no_worker_runs() -> None:
    with serving(answering(200)) as server:
        route(channel(make.team(), "webhook", secret=f"http://127.0.0.1:{server.port}/"))
        swept()
        watchdog.look(silent=True)
        watchdog.look(silent=True)
    assert len(server.seen) == 1
    assert "Preflight itself has stopped checking" in server.seen[0].decode()


@pytest.mark.usefixtures("hears")
def test_the_command_ends_with_an_error_when_the_sweep_is_silent() -> None:
    swept(timezone.now() - timedelta(minutes=5))
    with pytest.raises(CommandError, match=r"No sweep for 30[0-9] seconds"):
        call_command("watchdog")
    assert told() == ["silent"]


@pytest.mark.usefixtures("hears")
def test_the_command_ends_well_while_the_sweep_runs() -> None:
    swept(timezone.now())
    call_command("watchdog")
    assert told() == []
