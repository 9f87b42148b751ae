"""How `manage.py up` ends: in order, completely, and with a word when it gives up."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.launch.started import start, until

pytestmark = [pytest.mark.slow, pytest.mark.embedded]


@pytest.mark.parametrize("wish", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_wish_to_stop_ends_web_and_worker_first_and_leaves_no_process(tmp_path: Path, wish: signal.Signals):
    with start(tmp_path / "data") as started:
        assert started.is_ready(), started.said
        assert until(lambda: "celery@" in started.said or "ready." in started.said)
        started.process.send_signal(wish)
        assert started.exit_code() == 0, started.said
        assert not started.pids()
    assert started.said.index("Shutting down: Master") < started.said.index("bye bye")


def test_a_killed_supervisor_leaves_no_process(tmp_path: Path):
    with start(tmp_path / "data") as started:
        assert started.is_ready(), started.said
        assert len(started.pids()) >= 4
        started.process.kill()
        assert until(lambda: not started.pids(), 5), started.pids()


def test_a_second_start_after_a_kill_finds_its_data_and_prints_a_new_link(tmp_path: Path):
    with start(tmp_path / "data") as first:
        assert first.is_ready(), first.said
        first.process.kill()
        assert until(lambda: not first.pids(), 5)
    with start(tmp_path / "data") as second:
        assert second.is_ready(), second.said
        assert second.page(second.links()[0]) == 200
        assert second.page(first.links()[0]) == 404


def test_a_second_ctrl_c_does_not_wait_for_a_child_that_hangs(tmp_path: Path):
    with start(tmp_path / "data") as started:
        assert started.is_ready(), started.said
        os.kill(started.pid_of("gunicorn"), signal.SIGSTOP)
        started.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        asked = time.monotonic()
        started.process.send_signal(signal.SIGINT)
        started.exit_code()
        assert time.monotonic() - asked < 4
        assert not started.pids()


def test_a_child_that_cannot_start_makes_it_give_up_with_the_reason(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--no-such-option")
    with start(tmp_path / "data") as started:
        assert started.exit_code(60) == 1
        assert not started.pids()
    assert "Preflight gives up: web does not stay up" in started.said
