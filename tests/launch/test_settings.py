"""Settings: what is missing or badly written stops the start, with a number and without the value."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from panel import variables
from panel.celery import app

ROOT = Path(__file__).resolve().parent.parent.parent


def say(tmp_path: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command of this Python in a clean environment."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    plain = {**kept, "PREFLIGHT_NO_BOOTSTRAP": "1", "PREFLIGHT_DATA_DIR": str(tmp_path / "data")}
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**plain, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "command", [("manage.py", "up"), ("-m", "gunicorn", "panel.wsgi", "-b", "127.0.0.1:0")]
)
def test_production_without_its_variables_stops_with_numbered_messages(tmp_path: Path, command):
    done = say(tmp_path, *command, PREFLIGHT_PRODUCTION="true")
    assert done.returncode != 0
    for number in ("E001", "E002", "E003", "E004", "E005", "E007"):
        assert f"preflight.{number}" in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_bad_value_is_a_sentence_and_no_traceback(tmp_path: Path):
    done = say(tmp_path, "manage.py", "check", PREFLIGHT_PRODUCTION="ture")
    assert done.stderr == (
        "Preflight does not start with these settings: "
        "preflight.E010: PREFLIGHT_PRODUCTION: write true or false.\n"
    )


@pytest.mark.parametrize(
    ("read", "text", "number"),
    [
        (lambda name: variables.flag(name, default=False), "maybe", "E010"),
        (lambda name: variables.count(name, default=1), "-1", "E011"),
        (variables.public_url, "preflight.example", "E018"),
        (variables.public_url, "https://me@preflight.example", "E018"),
        (variables.mail_server, "consolemail://", "E019"),
        (variables.mail_server, "https://mail.example", "E019"),
        (lambda name: variables.networks(name, default=[]), "10.0.0.0/33", "E012"),
        (lambda name: variables.networks(name, default=[]), "10.0.0.1/8", "E012"),
        (lambda name: variables.database(name, default="sqlite:///x"), "mysql://u:hunter2@db/x", "E013"),
        (lambda name: variables.database(name, default="sqlite:///x"), "postgres://u:hunter2@db:x/y", "E013"),
        (variables.redis, "hunter2@redis:6379", "E014"),
        (lambda name: variables.zone(name, default="UTC"), "Mars/Olympus", "E015"),
        (lambda name: variables.zone(name, default="UTC"), "../../etc/hunter2", "E015"),
        (lambda name: variables.master_keys(name, os.environ[name]), "k1:hunter2", "E016"),
        (variables.log_level, "LOUD", "E017"),
        (variables.call_address, "switch.example/hunter2", "E020"),
        (variables.call_address, "https://me:hunter2@switch.example/", "E020"),
        (variables.token, "hunter2", "E021"),
    ],
)
def test_a_badly_written_variable_is_refused_with_its_number(monkeypatch, read, text, number):
    monkeypatch.setenv("PREFLIGHT_TRIED", text)
    with pytest.raises(ImproperlyConfigured, match=f"preflight.{number}: PREFLIGHT_TRIED: ") as refused:
        read("PREFLIGHT_TRIED")
    assert "hunter2" not in str(refused.value)


def test_two_master_keys_are_read_newest_first():
    keys = [f"{name}:{base64.b64encode(bytes(32)).decode()}" for name in ("new", "old")]
    assert variables.master_keys("X", ", ".join(keys)) == tuple(keys)


def test_an_unset_variable_takes_its_default(monkeypatch):
    monkeypatch.delenv("PREFLIGHT_TRIED", raising=False)
    assert variables.flag("PREFLIGHT_TRIED", default=True) is True
    assert variables.count("PREFLIGHT_TRIED", default=3) == 3
    assert variables.networks("PREFLIGHT_TRIED", default=["::1/128"])[0].version == 6


def test_celery_loses_no_work_when_a_worker_or_the_broker_is_killed():
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.broker_connection_max_retries is None
    assert app.conf.broker_transport_options["unacked_restore_interval"] == 15
    assert app.conf.broker_transport_options["unacked_restore_throttle"] == 1


def test_celery_carries_json_without_results_in_universal_time():
    assert app.conf.task_serializer == "json"
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_ignore_result
    assert app.conf.timezone == "UTC"
