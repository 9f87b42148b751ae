"""Pages: processor time a request, at a million runs, of the overview of 25 profiles and of a lane's 90 days.

`python -m tests.bench.pages [--runs 1000000] [--requests 200]` starts a PostgreSQL, a Redis and the web
server that `up` starts, makes the runs and, for all 90 days of all lanes, the hours and days of a run a
minute (what some 10,000,000 runs leave). It prints milliseconds a request, the database's share counted,
beside what the details page of Healthchecks took on two quiet cores; that peer is not measured here. Then
what the queries of strips and percentiles over 90 days take, first and warm, and what pruning a tenth of the
runs takes.
Nothing closes meanwhile, so what a process keeps of what it drew is found again. Only a quiet machine gives
figures to compare.
"""

from __future__ import annotations

import argparse
import http.client
import os
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.bench import processes
from tests.bench.instance import instance, make_checks

LANES = 75
DAYS = 90
PEER_MS = 13.6
# Page: its address and the most it should take, in milliseconds.
OVERVIEW, PROFILE = 0.8 * PEER_MS, 0.5 * PEER_MS
QUERIES_MS = 10.0
WARM_UP = 30


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, instance(Path(name)) as ours:
        checks = make_checks(LANES, ours.target, 300)
        fill(checks, given.runs)
        team, profile = checks[0].lane.profile.team, checks[0].lane.profile
        with web(ours.folder) as (port, pid):
            cookie = signed_in(team)
            for what, path, most in (
                ("overview of 25 profiles", f"/t/{team.slug}/", OVERVIEW),
                ("profile, 90 days", f"/t/{team.slug}/p/{profile.code}/?range=90d", PROFILE),
                ("profile, 30 days", f"/t/{team.slug}/p/{profile.code}/?range=30d", PROFILE),
                ("profile, 24 hours", f"/t/{team.slug}/p/{profile.code}/", PROFILE),
            ):
                report(what, measure(port, pid, ours.database, path, cookie, given.requests), most)
        time_queries(checks)
        time_pruning(team, given.runs)


def fill(checks: list[Any], runs: int) -> None:
    """Runs in even steps over the days, one of fifty a failure; hours and days as of a run a minute."""
    from django.db import connection

    from panel import rollups
    from panel.models import Check, LaneState, Pulse

    half = rollups.pack(sum(rollups.one(300 + 40 * number) for number in range(30)))
    each = runs // len(checks)
    with connection.cursor() as cursor:
        begun = time.monotonic()
        cursor.execute(RUNS, {"each": each, "step": DAYS * 86_400 / each})
        cursor.execute(HOURS, {"half": half, "hours": DAYS * 24})
        cursor.execute(DAYS_OF_HOURS, {"day": rollups.pack(rollups.unpack(half) * 48), "days": DAYS})
        cursor.execute(NEWEST)
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("SELECT count(*), pg_size_pretty(pg_total_relation_size('panel_run')) FROM panel_run")
        print(f"made {cursor.fetchone()} in {time.monotonic() - begun:.0f} s")
    now = LaneState.objects.latest("evidence_at").evidence_at
    Pulse.objects.update_or_create(name="tick", defaults={"at": now + timedelta(hours=1)})
    Check.objects.update(next_run_at=now + timedelta(days=1))
    steps_of_newest()


RUNS = """
INSERT INTO panel_run (check_order_id, code, slot, trigger, place, top_rung, host_name, state, attempts,
  status, rung, reason, started_at, finished_at, duration_ms, latency_ms, tokens, profile_version)
SELECT c.id, upper(lpad(to_hex(c.id * 1000000 + n), 12, '0')), at, 'schedule', 'panel', 2, '', 'done', 1,
  CASE WHEN n %% 50 = 0 THEN 'down' ELSE 'ok' END, 2,
  CASE WHEN n %% 50 = 0 THEN 'auth_invalid_key' ELSE '' END, at, at, 400, 350 + n %% 97, 12, 1
FROM generate_series(%(each)s, 1, -1) AS n, panel_check AS c,
  LATERAL (SELECT now() - make_interval(secs => n * %(step)s) AS at) AS t
"""
HOURS = """
INSERT INTO panel_lanehour (lane_id, hour, ok, degraded, down, not_testable, missed, maintenance, worst_first,
  worst_second, latency_first, latency_second)
SELECT l.id, date_trunc('hour', now()) - make_interval(hours => n), 58, 1, 1, 0, 0, 0,
  CASE WHEN n %% 40 = 0 THEN 'down' ELSE 'ok' END, 'ok', %(half)s, %(half)s
FROM generate_series(%(hours)s, 0, -1) AS n, panel_lane AS l
"""
DAYS_OF_HOURS = """
INSERT INTO panel_laneday (lane_id, day, ok, degraded, down, not_testable, missed, maintenance, worst,
  reasons, latency, tokens)
SELECT l.id, (now() AT TIME ZONE 'UTC')::date - n, 1392, 24, 24, 0, 0, 0,
  CASE WHEN n %% 5 = 0 THEN 'down' ELSE 'ok' END, '{"auth_invalid_key": 24}', %(day)s, 17280
FROM generate_series(%(days)s, 0, -1) AS n, panel_lane AS l
"""
NEWEST = """
UPDATE panel_lanestate AS s SET state = 'ok', status = 'ok', rung = 2, since = now() - interval '3 days',
  recent = 'oooooooooo', evidence_at = now(), latency_ms = 360, last_run_id = r.id, last_pass_id = r.id
FROM panel_check AS c, LATERAL (
  SELECT id FROM panel_run WHERE check_order_id = c.id ORDER BY slot DESC LIMIT 1) AS r
WHERE c.lane_id = s.lane_id
"""


def steps_of_newest() -> None:
    """The steps of each lane's newest run, and a change of state a week."""
    from panel.ledger.steps import to_json
    from panel.models import LaneState, Run, RunSteps, Transition
    from tests.panel.time.outcomes import passed

    states = list(LaneState.objects.exclude(last_run=None))
    for state in states:
        run = Run.objects.get(pk=state.last_run_id)
        steps = to_json(passed(run, run.slot).steps)
        RunSteps.objects.create(run=run, steps=steps)
        for week in range(DAYS // 7):
            at = run.slot - timedelta(days=7 * week)
            Transition.objects.create(
                lane_id=state.lane_id, at=at, before="down", after="ok", rung=2, followed=True
            )


@contextmanager
def web(folder: Path) -> Iterator[tuple[int, int]]:
    """The web server as `up` starts it: its port and the pid of its first process."""
    from django.core.management import call_command

    from panel.supervisor.parts import web_plan

    call_command("collectstatic", interactive=False, verbosity=0)
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        os.set_inheritable(door.fileno(), True)
        plan = web_plan(door, "bench")
        with (folder / "web.log").open("wb") as log:
            started = subprocess.Popen(
                [*plan.argv], env=os.environ | plan.env, pass_fds=plan.pass_fds, stdout=log, stderr=log
            )
        try:
            yield port, started.pid
        finally:
            started.terminate()
            started.wait(20)


def signed_in(team: Any) -> str:
    """The cookie of a session of a viewer of the team."""
    from django.conf import settings
    from django.test import Client

    from tests import make

    client = Client()
    client.force_login(make.member(team).user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def measure(
    port: int, web: int, database: int, path: str, cookie: str, requests: int
) -> tuple[float, float, float, int]:
    """Milliseconds a request of the web server and of the database, the median wait, and the page's bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    size = 0
    waits = []
    for number in range(WARM_UP + requests):
        if number == WARM_UP:
            before = processes.cpu_of(web), processes.cpu_of(database)
        begun = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": cookie})
        answer = connection.getresponse()
        size = len(answer.read())
        waits.append(time.perf_counter() - begun)
        if answer.status != 200:
            raise SystemExit(f"{path} answered {answer.status}")
    after = processes.cpu_of(web), processes.cpu_of(database)
    ours, theirs = ((end - start) * 1000 / requests for start, end in zip(before, after, strict=True))
    return ours, theirs, statistics.median(waits[WARM_UP:]) * 1000, size


def report(what: str, found: tuple[float, float, float, int], most: float) -> None:
    """Print a line a page."""
    web_ms, database_ms, wait_ms, size = found
    total = web_ms + database_ms
    print(
        f"{what:24} {total:5.1f} CPU ms a request ({web_ms:.1f} web, {database_ms:.1f} database), median "
        f"{wait_ms:.1f} ms, {size // 1000} kB; wanted {most:.1f}; {total / PEER_MS:.2f} of {PEER_MS}"
    )


def time_queries(checks: list[Any]) -> None:
    """What the queries of a profile's strips and percentiles take over 90 days."""
    from django.db import connection
    from django.utils import timezone

    from panel.history import strips

    lanes = {check.lane_id: check.lane.profile.code for check in checks[:3]}
    for what, fresh in (("warm database, nothing folded", True), ("again in the same process", False)):
        took = []
        for _ in range(20):
            if fresh:
                strips._folds.clear()
            spent = [0.0]

            def timed(execute: Any, *rest: Any, spent: list[float] = spent) -> Any:
                begun = time.perf_counter()
                try:
                    return execute(*rest)
                finally:
                    spent[0] += time.perf_counter() - begun

            with connection.execute_wrapper(timed):
                begun = time.perf_counter()
                for fold in strips.folds(lanes, strips.RANGES["90d"], timezone.now()).values():
                    fold.strip()
                    fold.percentiles()
                took.append((spent[0] * 1000, (time.perf_counter() - begun) * 1000))
        query, whole = (statistics.median(each) for each in zip(*took, strict=True))
        print(
            f"strips and percentiles, 90 days, {what}: {query:.1f} ms of queries, {whole:.1f} ms with folding"
            f" (wanted: {QUERIES_MS:.0f} ms of queries)"
        )


def time_pruning(team: Any, runs: int) -> None:
    """Let the team keep a tenth less, and see how long the bites last."""
    from django.utils import timezone

    from panel import ledger
    from panel.models import Run

    team.runs_days = round(DAYS * 0.9)
    team.save()
    begun, before = time.perf_counter(), Run.objects.count()
    ledger.prune(timezone.now())
    gone = before - Run.objects.count()
    seconds = time.perf_counter() - begun
    print(
        f"pruned {gone} of {before} runs in {seconds:.1f} s: {gone / seconds:.0f} a second, in bites of 2,500"
    )
    begun = time.perf_counter()
    ledger.prune(timezone.now())
    print(f"a pruning with nothing left to do: {(time.perf_counter() - begun) * 1000:.0f} ms")


if __name__ == "__main__":
    main()
