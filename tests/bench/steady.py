"""Steady load: so many lanes every so many seconds, by the product and by a peer at the same time.

`python -m tests.bench.steady [--lanes 5000] [--interval 60] [--minutes 10]` starts a PostgreSQL, a Redis, a
target, the product's worker with its beat, and beside them Prometheus with blackbox_exporter that ask the
same target the same question as often. After one interval it measures for so many minutes: CPU of worker,
database and broker for each probe beside the peer's, the worker's memory, how late probes start, and whether
a slot was lost or run twice. Only ratios of one run are to be trusted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.bench import processes, servers
from tests.bench.instance import Instance, instance, make_checks, states, worker

SETTLE_S = 15.0  # what is late in the last minute may still come


@dataclass(frozen=True, slots=True)
class Window:
    """What was counted between two moments: CPU seconds by part, probes, and those of the peer."""

    begun: datetime
    ended: datetime
    cpu: dict[str, float]
    asked: dict[str, int]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, default=5000)
    parser.add_argument("--interval", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--alone", action="store_true", help="without the peer")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, ExitStack() as stack:
        ours = stack.enter_context(instance(Path(name)))
        checks = make_checks(given.lanes, ours.target, given.interval)
        pids = {} if given.alone else _peer(stack, ours, given.lanes, given.interval)
        started = stack.enter_context(worker(ours.folder))
        pids |= {"worker": started.pid, "database": ours.database, "broker": ours.broker}
        time.sleep(given.interval)
        window = _measured(pids, ours.target, given.minutes * 60)
        memory = processes.peak_mib(started.pid)
        time.sleep(SETTLE_S)
        _report(window, memory)
        _report_slots(window, checks, given.interval)
        print(f"lanes now: {states()}")


def _peer(stack: ExitStack, ours: Instance, lanes: int, interval_s: int) -> dict[str, int]:
    if absent := servers.missing_peer():
        print(f"no peer: {absent}")
        return {}
    port, exporter = stack.enter_context(servers.blackbox(ours.folder))
    urls = [f"http://127.0.0.1:{ours.target}/peer/{n}/chat/completions" for n in range(lanes)]
    scraper = stack.enter_context(servers.prometheus(ours.folder, port, urls, interval_s))
    return {"blackbox": exporter, "prometheus": scraper}


def _measured(pids: dict[str, int], target: int, seconds: float) -> Window:
    from django.utils import timezone

    begun, before, cpu = timezone.now(), servers.asked(target), _cpu(pids)
    time.sleep(seconds)
    spent = {part: after - cpu[part] for part, after in _cpu(pids).items()}
    after, ended = servers.asked(target), timezone.now()
    return Window(begun, ended, spent, {who: count - before.get(who, 0) for who, count in after.items()})


def _cpu(pids: dict[str, int]) -> dict[str, float]:
    return {part: processes.cpu_of(pid) for part, pid in pids.items()}


def _report(window: Window, memory: float) -> None:
    probes, theirs = _stored(window), window.asked.get("peer", 0)
    seconds, asked = (window.ended - window.begun).total_seconds(), window.asked.get("v1", 0)
    print(f"{probes} probes stored in {seconds:.0f} s ({asked} requests came), CPU ms for each:")
    for part in ("worker", "database", "broker"):
        print(f"  {part:12} {window.cpu[part] * 1000 / probes:.3f}")
    ours = sum(window.cpu[part] for part in ("worker", "database", "broker")) * 1000 / probes
    print(f"  {'together':12} {ours:.3f}")
    if theirs:
        peer = (window.cpu["blackbox"] + window.cpu["prometheus"]) * 1000 / theirs
        print(f"  {'peer':12} {peer:.3f}  Prometheus and blackbox_exporter, {theirs} probes")
        print(f"  {'ratio':12} {ours / peer:.2f}  (target: at most 1.0, then 0.6)")
    print(f"worker's memory at most: {memory:.0f} MiB (target: at most 200)")


def _stored(window: Window) -> int:
    from panel.models import Run

    ended = Run.objects.filter(finished_at__gte=window.begun, finished_at__lt=window.ended)
    return ended.filter(state=Run.State.DONE).count()


def _report_slots(window: Window, checks: list[Any], interval_s: int) -> None:
    """Say how late the slots of the window began, and which had no run or more than one."""
    from panel.models import Run

    runs = Run.objects.filter(slot__gte=window.begun, slot__lt=window.ended)
    late = sorted(
        (started - slot).total_seconds()
        for slot, started in runs.filter(state=Run.State.DONE).values_list("slot", "started_at")
    )
    due = sum(_slots(check.next_run_at, interval_s, window) for check in checks)
    sent_again = runs.exclude(attempts=1).exclude(state=Run.State.MISSED).count()
    p50, p99 = late[len(late) // 2], late[len(late) * 99 // 100]
    print(
        f"start after slot: p50 {p50:.2f} s, p99 {p99:.2f} s, most {late[-1]:.2f} s (target: p99 at most 2)"
    )
    print(f"slots due {due}, run {len(late)}: {due - len(late)} lost, {sent_again} sent again (target: 0, 0)")


def _slots(first: datetime, interval_s: int, window: Window) -> int:
    """How many of the slots that begin at `first` lie in the window."""
    step = timedelta(seconds=interval_s)
    before, upto = (-((first - edge) // step) if edge > first else 0 for edge in (window.begun, window.ended))
    return max(0, upto - before)


if __name__ == "__main__":
    main()
