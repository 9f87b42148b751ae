"""The product itself for a figure: its settings, its rows by the thousand, its worker."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.bench import servers
from tests.environment import clean, remove

LANES_A_PROFILE = 3
LATER = timedelta(days=1)  # a contract that was asked then is not asked again while the figure is taken


@dataclass(frozen=True, slots=True)
class Instance:
    """A migrated product on services of its own; pids of the database's and the broker's first process."""

    folder: Path
    database: int
    broker: int
    target: int


@contextmanager
def instance(folder: Path) -> Iterator[Instance]:
    """The product on a fresh PostgreSQL and Redis, with a target to probe; Django is set up here."""
    data = clean()
    with ExitStack() as stack:
        stack.callback(remove, data)
        os.environ["DATABASE_URL"], database = stack.enter_context(servers.postgres(folder))
        os.environ["REDIS_URL"], broker = stack.enter_context(servers.redis(folder))
        port = stack.enter_context(servers.target())
        import django
        from django.core.management import call_command
        from django.db import connections

        django.setup()
        call_command("migrate", verbosity=0)
        stack.callback(connections.close_all)
        yield Instance(folder, database, broker, port)


def make_checks(count: int, port: int, interval_s: int) -> list[Any]:
    """The checks of a new team's lanes, all at the target, their first slots spread over the interval.

    Only the channel is asked: what a lane needs beyond a chat was asked in the future.
    """
    from django.utils import timezone

    from panel import schedule
    from panel.models import Check, Lane, LaneState, Profile
    from tests import make

    now, team = timezone.now(), make.team()
    endpoint = make.endpoint(team, base_url=f"http://127.0.0.1:{port}/v1")
    rows = [Profile(team=team, name=f"profile {n}", model="bench-model", endpoint=endpoint, version=1)
            for n in range(-(-count // LANES_A_PROFILE))]  # fmt: skip
    profiles = Profile.objects.bulk_create(rows, batch_size=500)
    plan = [(profile, kind) for profile in profiles for kind in make.KINDS][:count]
    lanes = Lane.objects.bulk_create(
        [Lane(profile=profile, kind=kind) for profile, kind in plan], batch_size=500
    )
    LaneState.objects.bulk_create(
        [LaneState(lane=lane, contract_at=now + LATER) for lane in lanes], batch_size=500
    )
    orders = [Check(lane=lane, interval_s=interval_s) for lane in lanes]
    checks = Check.objects.bulk_create(orders, batch_size=500)
    for check in checks:
        check.next_run_at = schedule.next_slot(check, now)
    Check.objects.bulk_update(checks, ["next_run_at"], batch_size=500)
    _analyze()
    return checks


@contextmanager
def worker(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The product's worker with its beat, as `up` starts it."""
    from panel.supervisor.parts import worker_plan

    plan = worker_plan()
    log = folder / "worker.log"
    with servers.process(list(plan.argv), env=dict(os.environ), log=log) as started:
        yield started


def states() -> dict[str, int]:
    """How many lanes are in which state: a figure of failures would say nothing."""
    from django.db.models import Count

    from panel.models import LaneState

    counted = LaneState.objects.exclude(evidence_at=None).values_list("state").annotate(Count("pk"))
    return dict(counted.order_by("state"))


def _analyze() -> None:
    """Tell the planner of the rows, as the database does by itself after a minute."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
