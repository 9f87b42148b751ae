"""The beat that wakes the sweep: killed and started anew, and two at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from panel.orphans import die_with_parent
from tests.drills.house import House, house
from tests.launch.started import ROOT

pytestmark = [pytest.mark.drill, pytest.mark.slow, pytest.mark.embedded]


@contextmanager
def beat(living: House) -> Iterator[subprocess.Popen[bytes]]:
    """A beat in a process of its own; killed at the end."""
    own = os.getpid()
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", "--app", "panel.celery", "--quiet", "beat", "--pidfile="],
        cwd=ROOT,
        env={**os.environ, "PREFLIGHT_DATA_DIR": str(living.started.folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: die_with_parent(own),
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One whose worker carries no beat; two run beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFLIGHT_BEAT", "false")
        with house(tmp_path_factory.mktemp("drill")) as running, beat(running), beat(running):
            yield running


def test_two_beats_double_no_slot_and_no_notice(living: House) -> None:
    living.lives_through(lambda: None)


def test_the_only_beat_killed_and_started_anew_loses_no_slot_and_no_notice(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFLIGHT_BEAT", "false")
    with house(tmp_path_factory.mktemp("drill")) as running, ExitStack() as beats:
        first = beats.enter_context(beat(running))

        def kill_and_start() -> None:
            first.send_signal(signal.SIGKILL)
            time.sleep(6)
            beats.enter_context(beat(running))

        running.lives_through(kill_and_start)
