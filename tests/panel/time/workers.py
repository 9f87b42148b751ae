"""A worker process on the tests' database and broker, to be killed without warning."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.db import connection

from panel.models import Run

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 45.0


@contextmanager
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """A worker without beat; killed at the end."""
    command = [sys.executable, "-m", "celery", "--app", "panel.celery", "--quiet", "worker", "-P", "threads"]
    process = subprocess.Popen(
        [*command, "-c", "2", "--without-gossip", "--without-mingle"],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": _database(), "PREFLIGHT_BEAT": "0"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _database() -> str:
    """The address of the test database."""
    said = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{said['NAME']}"
    return f"postgres://{said['USER']}:{said['PASSWORD']}@{said['HOST']}:{said['PORT']}/{said['NAME']}"


def until(true: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def run_is(state: str) -> Callable[[], bool]:
    """Tell whether the one run is in that state."""
    return lambda: Run.objects.filter(state=state).count() == 1


def lease_runs_out() -> None:
    """Let the time pass that the lease still has; the slot stays young."""
    Run.objects.update(lease_until=datetime.now(UTC) - timedelta(seconds=1))
