"""`manage.py up` on PostgreSQL and Redis: the same start, without a broker of its own."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.launch.started import start

pytestmark = [pytest.mark.slow, pytest.mark.services]


@pytest.fixture
def empty_database(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Make a database for one start, name it in DATABASE_URL, and drop it afterwards."""
    given, name = os.environ["DATABASE_URL"], f"preflight_{uuid.uuid4().hex[:12]}"
    monkeypatch.setenv("DATABASE_URL", urlunsplit(urlsplit(given)._replace(path=f"/{name}")))
    with psycopg.connect(given, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield name
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_it_starts_without_a_broker_of_its_own_and_keeps_its_rows_there(tmp_path: Path, empty_database: str):
    with start(tmp_path / "data") as started:
        assert started.is_ready(), started.said
        assert started.page(started.links()[0]) == 200
        assert not [command for command in started.pids().values() if "valkey" in command]
        assert not (tmp_path / "data" / "preflight.sqlite3").exists()
        assert started.pid_of("celery")
