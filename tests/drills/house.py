"""A whole Preflight that a drill breaks, and the account of its rows afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg

from checks import simulator
from tests.drills.catcher import Catcher, catching, wait_for
from tests.drills.furnish import INTERVAL_S, KEY
from tests.launch.started import ROOT, Started, start, until

LANES = 12
OPEN = ("queued", "running")
BACK_S = 90.0  # on a busy machine; a calm one needs half a minute
COUNTED = """
    SELECT (SELECT count(*) FROM panel_run WHERE state IN ('done', 'missed')),
           (SELECT sum(ok + degraded + down + not_testable + missed) FROM panel_lanehour)
"""


@dataclass
class House:
    """`database` is the URL of its rows, empty for SQLite in its folder."""

    started: Started
    relay: simulator.Server
    catcher: Catcher
    database: str = ""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the rows themselves, as nobody of Preflight does."""
        if self.database:
            with psycopg.connect(self.database) as rows:
                return rows.execute(sql).fetchall()
        file = f"file:{self._file}?mode=ro"
        with contextlib.closing(sqlite3.connect(file, uri=True, timeout=30)) as lite:
            return lite.execute(sql).fetchall()

    def kill(self, word: str) -> None:
        """End all processes of one part without a warning: "celery", "gunicorn", "valkey"."""
        for pid, command in self.started.pids().items():
            if word in command:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def lives_through(self, deed: Callable[[], object]) -> None:
        """Break the endpoint, do the deed while that is told, mend it; then all is as it should be."""
        opened, recovered = (self.catcher.kinds().count(kind) for kind in ("opened", "recovered"))
        assert until(self.green, BACK_S), self.said
        self.relay.fault = "key_refused"
        assert until(lambda: self.rows("SELECT 1 FROM panel_incident WHERE closed_at IS NULL"), BACK_S), (
            self.said
        )
        deed()
        assert wait_for(self.catcher, "opened", opened + 1, BACK_S), self.said
        self.relay.fault = None
        assert wait_for(self.catcher, "recovered", recovered + 1, BACK_S), self.said
        assert until(self.green, BACK_S), self.said
        self.is_accounted_for()
        assert self.catcher.kinds().count("opened") == opened + 1
        assert self.catcher.kinds().count("recovered") == recovered + 1

    def green(self) -> bool:
        """Whether every lane is well, by evidence of just now."""
        sql = f"SELECT count(*) FROM panel_lanestate WHERE state = 'ok' AND evidence_at > '{_ago(2)}'"
        with contextlib.suppress(sqlite3.Error, psycopg.Error):
            return bool(self.rows(sql)[0][0] == LANES)
        return False

    def is_accounted_for(self) -> None:
        """No slot is lost, none doubled, none waits without a lease; no notice is missing or told twice."""
        assert until(lambda: not self._forgotten(), BACK_S), self._forgotten()
        slots = defaultdict(list)
        for check, slot in self.rows("SELECT check_order_id, slot FROM panel_run ORDER BY slot"):
            slots[check].append(_time(slot))
        assert len(slots) == LANES
        for check, times in slots.items():
            steps = {later - sooner for sooner, later in pairwise(times)}
            assert steps <= {timedelta(seconds=INTERVAL_S)}, (check, times)
        [(closed, counted)] = self.rows(COUNTED)
        assert closed == counted
        assert not self.rows("SELECT id FROM panel_notice WHERE state IN ('dead', 'dropped')")
        assert not self.catcher.doubles()

    def is_settled(self) -> None:
        """Every slot up to now is closed, once the leases of those who were killed are over: that time is
        let pass at once, for runs that nobody can be at any more."""
        now = _ago(0)
        sql = f"SELECT id, slot, lease_until FROM panel_run WHERE state IN {OPEN} AND slot < '{now}'"
        assert until(lambda: not self.rows(sql) or self._lets_leases_pass(), BACK_S), self.rows(sql)
        self.is_accounted_for()

    def _lets_leases_pass(self) -> bool:
        """A climb here takes a second; whoever is at one for two intervals was killed. Never true."""
        over = f"UPDATE panel_run SET lease_until = '{_ago(2)}' WHERE state = 'running'"
        self._write(f"{over} AND started_at < '{_ago(2)}' AND lease_until > '{_ago(0)}'")
        return False

    def _write(self, sql: str) -> None:
        if self.database:
            with psycopg.connect(self.database) as rows:
                rows.execute(sql)
            return
        with contextlib.closing(sqlite3.connect(self._file, timeout=30, isolation_level=None)) as lite:
            lite.execute(sql)

    @property
    def _file(self) -> Path:
        return self.started.folder / "preflight.sqlite3"

    @property
    def said(self) -> str:
        """What went on, for who reads a failure."""
        states = self.rows("SELECT state, status, count(*) FROM panel_run GROUP BY 1, 2")
        notices = self.rows("SELECT kind, state, attempts, failure FROM panel_notice ORDER BY id")
        return f"{states}\n{notices}\n{self.catcher.asked}\n{self.started.said[-6000:]}"

    def _forgotten(self) -> list[tuple[Any, ...]]:
        """Runs whose lease ran out two sweeps ago and more."""
        return self.rows(
            f"SELECT id, slot FROM panel_run WHERE state IN {OPEN} AND lease_until < '{_ago(1)}'"
        )


def _ago(intervals: int) -> str:
    moment = datetime.now(UTC) - timedelta(seconds=intervals * INTERVAL_S)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _time(value: datetime | str) -> datetime:
    """A time as the driver gives it."""
    return value if isinstance(value, datetime) else datetime.fromisoformat(value).replace(tzinfo=UTC)


@contextlib.contextmanager
def house(folder: Path, database: str = "") -> Iterator[House]:
    """Start one, and furnish it; after the drills nothing may be left open."""
    with (
        simulator.serve("vllm", key=KEY, delay_ms=700) as relay,
        catching() as catcher,
        start(folder / "data") as started,
    ):
        assert started.is_ready(), started.said
        there = {"PREFLIGHT_DATA_DIR": str(started.folder), "DATABASE_URL": database}
        asked = (relay.base_url, relay.origin, catcher.url, str(LANES))
        subprocess.run(
            [sys.executable, "-m", "tests.drills.furnish", *asked],
            cwd=ROOT, env={**os.environ, **{key: value for key, value in there.items() if value}}, check=True,
        )  # fmt: skip
        living = House(started, relay, catcher, database)
        yield living
        living.is_settled()
