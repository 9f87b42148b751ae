"""A real worker, killed without warning while it waits for an answer."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta

import pytest

from checks import simulator
from panel import tasks
from panel.models import LaneHour, Leftover, Run, RunSteps
from tests import make
from tests.panel.time.doors import KEY, due_check
from tests.panel.time.workers import lease_runs_out, run_is, until, worker
from tests.ssh import Sshd

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_a_run_whose_worker_was_killed_is_run_again_once_and_stored_once() -> None:
    with simulator.serve("vllm", key=KEY, delay_ms=20_000) as stuck, simulator.serve("vllm", key=KEY) as well:
        check = due_check(stuck, interval_s=3600)
        tasks.tick()
        with worker():
            until(run_is("running"))
        lease_runs_out()
        type(check.lane.profile.endpoint).objects.update(base_url=well.base_url)
        tasks.tick()
        with worker():
            until(run_is("done"))
    run = Run.objects.get()
    assert (run.attempts, run.status) == (2, "ok")
    assert LaneHour.objects.get().ok == 1


def test_a_run_whose_worker_was_killed_is_missed_when_its_slot_is_old() -> None:
    with simulator.serve("vllm", key=KEY, delay_ms=20_000) as stuck:
        due_check(stuck, interval_s=3600)
        tasks.tick()
        with worker():
            until(run_is("running"))
    Run.objects.update(slot=datetime.now(UTC) - timedelta(hours=2))
    lease_runs_out()
    tasks.tick()
    assert sorted(Run.objects.values_list("state", flat=True)) == ["missed"]


def test_a_dry_run_whose_worker_was_killed_is_missed_and_tidied_up(sshd: Sshd) -> None:
    with simulator.serve("vllm", key=KEY, delay_ms=20_000) as stuck:
        check = due_check(stuck, interval_s=3600, top_rung=5)
        profile = check.lane.profile
        host = make.host(
            profile.team, sshd.key, address="127.0.0.1", port=sshd.port, user=sshd.user,
            host_key=sshd.host_key, python=sys.executable,
        )  # fmt: skip
        make.recipe(profile, host, where="host")
        tasks.tick()
        with worker():
            until(run_is("running"))
            until(lambda: bool(stuck.requests))
    lease_runs_out()
    tasks.tick()
    with worker():
        until(lambda: Leftover.objects.get().settled_at is not None)
    run = Run.objects.get()
    assert (run.state, run.reason) == ("missed", "dry_run_interrupted")
    assert "tidied_host" in [step["name"] for step in RunSteps.objects.get(run=run).steps]
