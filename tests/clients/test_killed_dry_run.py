"""A worker killed amid a dry run: nothing stays at the gateway or on the host, and one row says so."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from checks import simulator
from panel import schedule, tasks
from panel.models import Check, Leftover, Run, RunSteps
from tests import make
from tests.checks.hosts.commands import alive
from tests.clients.agl import KEY, MODEL, Gateway
from tests.panel.time.workers import lease_runs_out, run_is, until, worker
from tests.ssh import Sshd

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def due_dry_run(gateway: Gateway, sshd: Sshd, **recipe: Any) -> None:
    """A lane that goes through the gateway from the host, up to the fifth rung, now."""
    team = make.team()
    endpoint = make.endpoint(team, KEY, base_url=gateway.origin, origin=gateway.origin, kind="agl-gateway")
    profile = make.profile(team, lanes=("agent",), endpoint=endpoint, model=MODEL)
    host = make.host(
        team, sshd.key, address="127.0.0.1", port=sshd.port, user=sshd.user, host_key=sshd.host_key,
        python=sys.executable,
    )  # fmt: skip
    make.recipe(profile, host, where="host", **recipe)
    check = Check.objects.get(lane__profile=profile, lane__kind="agent")
    check.top_rung, check.interval_s = 5, 3600
    check.next_run_at = schedule.next_slot(check, datetime.now(UTC)) - timedelta(hours=1)
    check.save()


def killed_once(true: Callable[[], bool]) -> None:
    """Climb until that is true, kill the worker, let the lease run out, and let another one tidy up."""
    tasks.tick()
    with worker():
        until(true, 90)
    lease_runs_out()
    tasks.tick()
    with worker():
        until(lambda: Leftover.objects.get().settled_at is not None)


def test_rollouts_of_a_killed_dry_run_leave_the_gateway(gateway: Gateway, sshd: Sshd) -> None:
    with simulator.serve("vllm", models=(MODEL,), delay_ms=30_000) as stuck:
        gateway.serve_from(stuck.base_url)
        due_dry_run(gateway, sshd)
        killed_once(lambda: bool(gateway.rollouts()))
        assert gateway.rollouts() == []
    run = Run.objects.get()
    assert (run.state, run.reason) == ("missed", "dry_run_interrupted")
    told = {step["name"]: step for step in RunSteps.objects.get(run=run).steps}
    assert told["tidied_gateway"]["say"]["count"] != "0"


def test_the_command_of_a_killed_dry_run_is_gone_from_the_host(
    gateway: Gateway, sshd: Sshd, tmp_path: Path
) -> None:
    noted = tmp_path / "pid"
    line = f"trap '' TERM HUP; echo $$ > {noted}; setsid sleep 120 & sleep 120"
    with simulator.serve("vllm", models=(MODEL,)) as server:
        gateway.serve_from(server.base_url)
        due_dry_run(gateway, sshd, command=["sh", "-c", line], command_deadline_s=120)
        tasks.tick()
        with worker():
            until(lambda: noted.exists() and bool(noted.read_text().strip()), 90)
        until(lambda: not alive(int(noted.read_text())), 15)  # the line to the worker broke: it ends at once
    lease_runs_out()
    tasks.tick()
    assert run_is("missed")()
    assert Run.objects.get().reason == "dry_run_interrupted"
