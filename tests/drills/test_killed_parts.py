"""Parts of a running Preflight, killed without warning while an incident is told of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
import redis

from tests.drills.house import House, house
from tests.launch.started import until

pytestmark = [pytest.mark.drill, pytest.mark.slow, pytest.mark.embedded]


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("drill")) as running:
        yield running


def test_a_killed_worker_loses_no_slot_and_no_notice(living: House) -> None:
    living.lives_through(lambda: living.kill("celery"))


def test_a_killed_broker_loses_no_slot_and_no_notice(living: House) -> None:
    living.lives_through(lambda: living.kill("valkey"))


def test_a_killed_web_server_changes_nothing_for_what_is_checked(living: House) -> None:
    living.lives_through(lambda: living.kill("gunicorn"))
    assert until(lambda: living.started.page("/healthz") == 200)


def test_all_killed_at_once_lose_no_slot_and_no_notice(living: House) -> None:
    def kill_all() -> None:
        for word in ("celery", "valkey", "gunicorn"):
            living.kill(word)

    living.lives_through(kill_all)


def test_a_flushed_broker_loses_no_slot_and_no_notice(living: House) -> None:
    def flush() -> None:
        socket = living.started.folder / "run" / "valkey.sock"
        with contextlib.closing(redis.Redis(unix_socket_path=str(socket))) as client:
            client.flushall()

    living.lives_through(flush)
