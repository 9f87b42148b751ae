"""`manage.py up` as a person meets it: one start serves the tests that leave it running."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import redis

from panel.supervisor.doors import accepts
from tests.launch.started import Started, start, until

pytestmark = [pytest.mark.slow, pytest.mark.embedded]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with start(tmp_path_factory.mktemp("up") / "data") as started:
        assert started.is_ready(), started.said
        yield started


def test_the_page_answers_where_it_says(running: Started):
    assert f"http://127.0.0.1:{running.port}" in running.said
    assert running.page("/healthz") == 200


def test_a_new_database_brings_one_setup_link_that_opens(running: Started):
    [link] = running.links()
    assert running.page(link) == 200


def test_static_files_are_served(running: Started):
    assert running.page("/static/panel/css/tokens.css") == 200


def test_what_it_writes_is_the_users_alone(running: Started):
    data = running.log.parent / "data"
    for path in (
        data / "preflight.sqlite3",
        data / "master-key",
        data / "run" / "valkey.sock",
        data / "broker",
    ):
        assert path.stat().st_mode & 0o077 == 0, path


def test_the_broker_has_no_tcp_port(running: Started):
    with redis.Redis(unix_socket_path=str(running.folder / "run" / "valkey.sock")) as client:
        assert client.config_get("port") == {"port": "0"}


def test_a_second_start_from_the_same_folder_is_refused(running: Started):
    with start(running.log.parent / "data") as second:
        assert second.exit_code() == 1
    assert f"process {running.process.pid}" in second.said
    assert "PREFLIGHT_DATA_DIR" in second.said


def test_a_port_that_is_taken_is_named_with_the_mend(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with start(tmp_path / "data", port=port) as refused:
            assert refused.exit_code() == 1
    assert f"Port {port} on 127.0.0.1 is taken" in refused.said
    assert f"--port {port + 1}" in refused.said


def test_a_killed_worker_comes_back(running: Started):
    before = running.pid_of("celery")
    os.kill(before, signal.SIGKILL)
    assert until(lambda: running.pid_of("celery") != before)
    assert "worker ended (signal 9); it starts again." in running.said


def test_a_killed_web_server_comes_back_and_leaves_no_worker_of_its_own(running: Started):
    before = {pid for pid, command in running.pids().items() if "gunicorn" in command}
    os.kill(min(before), signal.SIGKILL)
    assert until(lambda: not before & set(running.pids()), 5)
    assert running.page("/healthz") == 200  # the request waits at the socket that the supervisor holds


def test_a_killed_broker_comes_back(running: Started):
    before = running.pid_of("valkey")
    os.kill(before, signal.SIGKILL)
    assert until(lambda: running.pid_of("valkey") != before)
    assert until(lambda: accepts(running.folder / "run" / "valkey.sock"))
    assert running.page("/healthz") == 200


def test_work_flows_again_after_worker_and_broker_were_killed(running: Started):
    for word in ("celery", "valkey"):
        os.kill(running.pid_of(word), signal.SIGKILL)
    killed = datetime.now(UTC)
    assert until(lambda: _last_tick(running) > killed), running.said


def _last_tick(running: Started) -> datetime:
    """Return when the worker last did its round; it notes that every ten seconds at most."""
    with contextlib.closing(sqlite3.connect(running.folder / "preflight.sqlite3")) as rows:
        found = rows.execute("SELECT at FROM panel_pulse WHERE name = 'tick'").fetchone()
    return datetime.fromisoformat(found[0]).replace(tzinfo=UTC) if found else datetime.min.replace(tzinfo=UTC)
