"""The parts beneath: broker, logs, health, error reports, and the tests' own guard."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client, RequestFactory

from panel import broker
from panel.error_reports import SilentReporterFilter
from panel.logs import RedactingFilter
from panel.secret_files import read_or_create_secret
from tests.launch.started import until

KEY = "sk-canary-4f9a2b7c8d1e6f3a"


def test_the_cache_of_a_test_is_a_real_broker():
    cache.set("word", "kept", 10)
    assert cache.get("word") == "kept"


def test_a_connection_that_leaves_this_machine_is_refused():
    with socket.socket() as client, pytest.raises(AssertionError, match="loopback alone"):
        client.connect(("192.0.2.1", 80))


def test_a_long_data_folder_gets_a_socket_in_a_private_folder_of_the_temporary_one(tmp_path: Path):
    deep = tmp_path / ("deep" * 30)
    found = broker.socket_for(deep)
    assert len(os.fsencode(found)) <= broker.SOCKET_PATH_BYTES
    assert found == broker.socket_for(deep)
    assert found != broker.socket_for(tmp_path / ("other" * 30))


def test_a_socket_folder_that_others_can_enter_is_refused(tmp_path: Path):
    (tmp_path / "run").mkdir(mode=0o755)
    with pytest.raises(broker.BrokerUnavailable, match="mode 0700"):
        broker.private_folder(tmp_path / "run")


def test_without_any_server_the_sentence_names_redis_url(monkeypatch):
    monkeypatch.setattr(broker, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(broker.BrokerUnavailable, match="REDIS_URL=redis://host:6379/0"):
        broker.server()


def test_a_server_on_path_takes_the_place_of_the_packages_one(monkeypatch, tmp_path: Path):
    (tmp_path / "redis-server").write_text("#!/bin/sh\n")
    (tmp_path / "redis-server").chmod(0o755)
    monkeypatch.setattr(broker, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert broker.server() == str(tmp_path / "redis-server")


def test_a_log_line_loses_its_key_in_message_arguments_and_traceback(caplog):
    record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "asked with %s", (KEY,), None)
    try:
        raise ValueError(f"refused {KEY}")
    except ValueError:
        record.exc_info = sys.exc_info()
    RedactingFilter().filter(record)
    line = logging.Formatter().format(record)
    assert "asked with [masked]" in line
    assert KEY not in line


def test_an_error_report_names_variables_and_fields_without_their_content():
    secret = KEY  # noqa: F841 - it is what the report must not show
    reporter, request = SilentReporterFilter(), RequestFactory().post("/", {"key": KEY})
    shown = [*reporter.get_traceback_frame_variables(request, sys._getframe())]
    shown += [*reporter.get_post_parameters(request).items()]
    assert {"secret", "key"} <= {name for name, _ in shown}
    assert {value for _, value in shown} == {"[masked]"}


def test_a_generated_secret_is_its_owners_alone_and_stays(tmp_path: Path):
    first = read_or_create_secret(tmp_path / "data" / "master-key")
    assert read_or_create_secret(tmp_path / "data" / "master-key") == first
    assert (tmp_path / "data" / "master-key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


@pytest.mark.django_db
def test_health_tells_the_start_and_nothing_else(settings):
    settings.START_ID = "abc"
    assert Client().get("/healthz").json() == {"status": "ok", "start": "abc"}


@pytest.mark.django_db
def test_health_without_a_database_is_503():
    def broken(execute, sql, params, many, context):
        from django.db import OperationalError

        raise OperationalError("gone")

    with connection.execute_wrapper(broken):
        answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "no database")


def test_a_python_child_leaves_when_its_parent_is_gone_where_the_kernel_does_not_watch(tmp_path: Path):
    child = (
        "from panel.orphans import start_watch; import os, time; start_watch(os.getppid()); time.sleep(60)"
    )
    parent = (
        "import subprocess, sys, time; child = subprocess.Popen([sys.executable, '-c', sys.argv[1]]);"
        "print(child.pid, flush=True); time.sleep(1.5)"
    )
    started = subprocess.run([sys.executable, "-c", parent, child], stdout=subprocess.PIPE, check=True)
    assert until(lambda: not _lives(int(started.stdout)), 10)


def _lives(pid: int) -> bool:
    """Tell whether a process runs; one that ended and waits for its new parent does not."""
    time.sleep(0.05)
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and ") Z " not in stat.read_text()
