"""Tasks that go to a host, over a real SSH connection: readings, host keys, deep climbs, tidying up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from checks import simulator
from panel import history, ledger, tasks
from panel.models import Host, HostReading, Leftover, Run, RunSteps
from tests import make
from tests.panel.time.doors import KEY
from tests.ssh import Sshd

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def host(sshd: Sshd) -> Host:
    """The machine of the tests, as a lead accepted it."""
    return make.host(
        private=sshd.key, address="127.0.0.1", port=sshd.port, user=sshd.user, host_key=sshd.host_key,
        python=sshd.spec().python,
    )  # fmt: skip


@pytest.fixture(scope="module")
def relay() -> Iterator[simulator.Server]:
    with simulator.serve("vllm", key=KEY, models=("qwen3-8b",)) as server:
        yield server


def a_deep_run(host: Host, relay: simulator.Server, top_rung: int = 3, **recipe: object) -> Run:
    """A run on the host, of a lane that the relay answers for."""
    endpoint = make.endpoint(host.team, key=KEY, base_url=relay.base_url, origin=relay.origin)
    profile = make.profile(host.team, lanes=("agent",), endpoint=endpoint)
    make.recipe(profile, host, **recipe)
    check = profile.lanes.get(kind="agent").check_order
    return make.run(check, datetime.now(UTC), top_rung=top_rung, host_name=host.name, trigger="person")


def test_a_host_is_read_over_ssh(host: Host) -> None:
    tasks.read_host(make.reading(host).pk)
    reading = HostReading.objects.get()
    assert (reading.state, reading.facts["system"]["user"]) == ("done", host.user)
    assert Host.objects.get().state in ("ok", "degraded", "down")


def test_another_host_key_blocks_the_reading_and_is_offered(host: Host) -> None:
    host.host_key, shown = make.HOST_KEY, host.host_key
    host.save()
    tasks.read_host(make.reading(host).pk)
    host.refresh_from_db()
    assert (host.state, host.reason) == ("not_testable", "host_key_changed")
    assert host.offered_key == shown


def test_a_machine_is_asked_for_its_host_key_without_a_login(host: Host) -> None:
    shown = host.host_key
    host.host_key = host.sealed_key = ""
    host.save()
    tasks.ask_host_key(host.pk)
    assert Host.objects.get().offered_key == shown
    assert Host.objects.get().state == "unknown"


def test_a_message_for_a_reading_that_was_taken_does_nothing(host: Host) -> None:
    tasks.read_host(make.reading(host, state="done").pk)
    assert HostReading.objects.get().facts is None


def test_a_deep_run_is_climbed_from_the_host_and_says_so(host: Host, relay) -> None:
    run = a_deep_run(host, relay, where="host")
    tasks.climb_high(run.pk)
    view = history.run_view(run)
    assert (view.state, view.rungs[1].status) == ("done", "ok")
    assert view.rungs[1].places == (f"host:{host.name}",)
    assert KEY not in repr(RunSteps.objects.get(run=run).steps)


def test_what_a_dead_worker_left_on_the_host_is_tidied_up(host: Host, relay) -> None:
    run = a_deep_run(host, relay, top_rung=5)
    past = datetime.now(UTC) - timedelta(hours=1)
    ledger.start_deep(run.pk, past)
    ledger.miss_overdue(datetime.now(UTC))
    tasks.tidy(run.pk)
    assert Leftover.objects.get().settled_at is not None
    assert RunSteps.objects.get(run=run).steps[-1]["name"] == "tidied_host"


def test_a_run_whose_turn_it_is_not_stays_queued(host: Host, relay) -> None:
    first, second = a_deep_run(host, relay), a_deep_run(host, relay)
    ledger.start_deep(first.pk, datetime.now(UTC))
    tasks.climb_high(second.pk)
    assert Run.objects.get(pk=second.pk).state == "queued"


def test_a_dry_run_streams_what_the_team_s_command_prints(host: Host, relay) -> None:
    run = a_deep_run(host, relay, top_rung=5, command=["sh", "-c", "echo first; echo second"])
    tasks.climb_high(run.pk)
    printed = "".join(piece.text for piece in history.run_output(run))
    assert "first\nsecond" in printed
    assert [rung.status for rung in history.run_view(run).rungs][3:] == ["ok", "ok"]
    assert not Leftover.objects.exists()
