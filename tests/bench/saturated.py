"""Saturated: how many probes one worker process stores a second when all lanes are due at once.

`python -m tests.bench.saturated [--lanes 1000] [--seconds 20]` starts a PostgreSQL, a Redis and a target, and
in this process claims, climbs and stores as the worker does, with a few batches under way. It prints stored
probes a second, CPU milliseconds for each by part, and what blackbox_exporter, which stores nothing, does
with the same target. Only ratios of one run are to be trusted.
"""

from __future__ import annotations

import argparse
import collections
import http.client
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.bench import processes, servers
from tests.bench.instance import instance, make_checks, states

AT_ONCE = 3  # batches under way: one is written while others are asked
SCRAPES = 16
PEER_S = 6.0
WANTED = 400

Spent = collections.Counter[str]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, instance(Path(name)) as ours:
        spent: Spent = collections.Counter()
        timed(spent)
        stored, seconds = saturate(
            make_checks(given.lanes, ours.target, 60), given.seconds, ours.database, spent
        )
        rate = stored / seconds
        print(f"{stored} probes stored in {seconds:.1f} s: {rate:.0f} a second (target: at least {WANTED})")
        for part, cpu in spent.items():
            print(f"  {part:16} {cpu * 1000 / stored:.3f} CPU ms a probe")
        print(f"  one core would store {stored / spent['whole process']:.0f} a second")
        _report_peer(ours.folder, ours.target)
        print(f"lanes now: {states()}")


def saturate(checks: list[Any], seconds: float, database: int, spent: Spent) -> tuple[int, float]:
    """Run rounds over all checks until the time is over; return probes stored and seconds, and count the CPU
    seconds of this process and of the database into `spent`."""
    from django.utils import timezone

    from panel import schedule, tasks

    now = timezone.now()
    begun, cpu, server = time.perf_counter(), time.process_time(), processes.cpu_of(database)
    stored = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while time.perf_counter() - begun < seconds:
            now += timedelta(seconds=checks[0].interval_s)
            climbs = []
            while runs := schedule.claim_due(now):
                pks = [run.pk for run in runs]
                batches = [pks[first : first + tasks.BATCH] for first in range(0, len(pks), tasks.BATCH)]
                climbs += [pool.submit(tasks.climb, batch) for batch in batches]
                stored += len(pks)
            for climb in climbs:
                climb.result()
    spent["whole process"] += time.process_time() - cpu
    spent["database"] += processes.cpu_of(database) - server
    return stored, time.perf_counter() - begun


def timed(spent: Spent) -> None:
    """Count the CPU of the threads that store, part by part; the engine's loop is another thread."""
    from panel import briefing, ledger, schedule

    parts = ((schedule, "claim_due"), (ledger, "start"), (briefing, "brief"), (ledger, "close_many"))
    for module, name in parts:
        setattr(module, name, _counted(getattr(module, name), name, spent))


def _counted(deed: Callable[..., Any], name: str, spent: Spent) -> Callable[..., Any]:
    def count(*args: Any, **kwargs: Any) -> Any:
        begun = time.thread_time()
        try:
            return deed(*args, **kwargs)
        finally:
            spent[name] += time.thread_time() - begun

    return count


def _report_peer(folder: Path, target: int) -> None:
    if absent := servers.missing_peer():
        print(f"no peer: {absent}")
        return
    with servers.blackbox(folder) as (port, pid):
        url = f"http%3A%2F%2F127.0.0.1%3A{target}%2Fpeer%2Fchat%2Fcompletions"
        begun, before, cpu = time.perf_counter(), servers.asked(target).get("peer", 0), processes.cpu_of(pid)
        _scrape(port, f"/probe?module=chat&target={url}", PEER_S)
        seconds, spent = time.perf_counter() - begun, processes.cpu_of(pid) - cpu
        probes = servers.asked(target).get("peer", 0) - before
    each = spent * 1000 / probes
    print(f"blackbox_exporter: {probes / seconds:.0f} a second, not stored, {each:.3f} CPU ms each")


def _scrape(port: int, path: str, seconds: float) -> None:
    """Ask for probes over connections that stay open, as Prometheus does."""
    ends = time.monotonic() + seconds

    def ask() -> None:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        while time.monotonic() < ends:
            line.request("GET", path)
            line.getresponse().read()
        line.close()

    with ThreadPoolExecutor(SCRAPES) as pool:
        for _ in range(SCRAPES):
            pool.submit(ask)


if __name__ == "__main__":
    main()
