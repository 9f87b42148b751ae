"""Price of a stored probe: claim, start, brief, climb two rungs, judge, store; on the configured database.

`DATABASE_URL=… python -m tests.bench.stored_probes [--lanes N] [--seconds S] [--url BASE_URL]` makes rows in
that database (a throwaway SQLite file without one), runs rounds over all lanes, and prints stored probes a
second and CPU milliseconds for each: this process by part, and the database server where it is local. The
target at `--url` is not counted; without it a tiny one is started. Only ratios of one run are to be trusted.
"""

from __future__ import annotations

import argparse
import collections
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.bench.probe_cost import TARGET

INTERVAL_S = 60
Spent = collections.Counter[str]


@contextmanager
def a_target(url: str) -> Iterator[str]:
    """The base URL of the server that answers, started here unless one was named."""
    if url:
        yield url
        return
    with subprocess.Popen([sys.executable, "-c", TARGET], stdout=subprocess.PIPE, text=True) as target:
        assert target.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(target.stdout.readline())}/v1"
        finally:
            target.terminate()


@contextmanager
def django(folder: str) -> Iterator[None]:
    """Django on the configured database, migrated."""
    os.environ.setdefault("PREFLIGHT_DATA_DIR", folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "panel.settings"
    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    call_command("migrate", verbosity=0)
    yield
    connection.close()


def make_lanes(count: int, base_url: str) -> Any:
    """A new team with this many lanes in use, all at the target."""
    from panel.models import Check
    from tests import make

    team = make.team(f"bench-{time.time_ns()}")
    endpoint = make.endpoint(team, base_url=base_url, origin=base_url.rpartition("/")[0])
    for _ in range(-(-count // 3)):
        make.profile(team, endpoint=endpoint, model="bench-model")
    return team, list(Check.objects.filter(lane__profile__team=team)[:count])


def measure(checks: list[Any], seconds: float) -> tuple[int, float, Spent]:
    """Run rounds until the time is over; return probes stored, seconds, and CPU seconds by part."""
    from django.utils import timezone

    from panel import schedule, tasks
    from panel.models import Check

    spent: Spent = collections.Counter()
    timed(spent)
    now, stored = timezone.now(), 0
    for check in checks:
        check.interval_s = INTERVAL_S
        check.next_run_at = schedule.next_slot(check, now)
    Check.objects.bulk_update(checks, ["interval_s", "next_run_at"], batch_size=500)
    begun, cpu, server = time.perf_counter(), time.process_time(), server_cpu()
    while time.perf_counter() - begun < seconds:
        now += timedelta(seconds=INTERVAL_S)
        while runs := schedule.claim_due(now):
            for first in range(0, len(runs), tasks.BATCH):
                tasks.climb([run.pk for run in runs[first : first + tasks.BATCH]])
            stored += len(runs)
    spent["whole process"] = time.process_time() - cpu
    spent["database server"] = server_cpu() - server
    return stored, time.perf_counter() - begun, spent


def timed(spent: Spent) -> None:
    """Count the CPU of this thread in the parts that store; the engine's loop is another thread."""
    from panel import briefing, ledger, schedule

    for module, name in (
        (schedule, "claim_due"),
        (ledger, "start"),
        (briefing, "brief"),
        (ledger, "close_many"),
    ):
        setattr(module, name, counted(getattr(module, name), name, spent))


def counted(deed: Callable[..., Any], name: str, spent: Spent) -> Callable[..., Any]:
    """The deed, with its CPU added up under its name."""

    def count(*args: Any, **kwargs: Any) -> Any:
        begun = time.thread_time()
        try:
            return deed(*args, **kwargs)
        finally:
            spent[name] += time.thread_time() - begun

    return count


def server_cpu() -> float:
    """CPU seconds of the PostgreSQL processes on this machine so far; 0.0 for SQLite or another machine."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity")
        pids = [row[0] for row in cursor.fetchall()]
    stats = [Path(f"/proc/{pid}/stat") for pid in pids]
    fields = [stat.read_text().rpartition(")")[2].split() for stat in stats if stat.exists()]
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--url", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, django(folder), a_target(asked.url) as url:
        team, checks = make_lanes(asked.lanes, url)
        stored, seconds, spent = measure(checks, asked.seconds)
        statuses = states_of(team)
        for rows in (team.profiles, team.endpoints):
            rows.all().delete()
        team.delete()
    print(
        f"{stored} probes of {asked.lanes} lanes in {seconds:.1f} s: {stored / seconds:.0f} stored a second"
    )
    print(f"lanes: {statuses}")
    for name, cpu in spent.items():
        print(f"{name:16} {cpu * 1000 / stored:.3f} CPU ms a probe")


def states_of(team: Any) -> dict[str, int]:
    """How many lanes are in which state: a bench of failures would say nothing."""
    from panel.models import LaneState

    states = LaneState.objects.filter(lane__profile__team=team, evidence_at__isnull=False)
    return dict(collections.Counter(states.values_list("state", flat=True)))


if __name__ == "__main__":
    main()
