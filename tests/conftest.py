"""What every test stands on: a clean environment, a broker of its own, a network that ends at loopback."""

from __future__ import annotations

import ipaddress
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import environment
from tests.parts import asked_for
from tests.ssh import Sshd, running_sshd

DATA_DIR = environment.clean()  # before Django reads its settings


def pytest_configure(config: pytest.Config) -> None:
    """Load the settings from the cleaned environment; pytest-django then sets Django up."""
    from django.conf import settings

    assert settings.DATABASES


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for the other kind of parts (`manage.py test` runs once with each), and what must
    be asked for by name."""
    absent = ["embedded" if os.environ.get("REDIS_URL") else "services"]
    if not asked_for("PREFLIGHT_TEST_VLLM"):
        absent.append("vllm")
    if not asked_for("PREFLIGHT_TEST_AGL0"):
        absent.append("legacy")
    left_out = [item for item in items if any(item.get_closest_marker(name) for name in absent)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave no files behind."""
    environment.remove(DATA_DIR)


def _only_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse a connection that would leave this machine; a name was resolved before it comes here."""
    if event != "socket.connect" or not isinstance(arguments[1], tuple):
        return
    host = str(arguments[1][0]).split("%")[0]
    try:
        inside = ipaddress.ip_address(host).is_loopback
    except ValueError:
        inside = host in ("localhost", "")
    if not inside:
        raise AssertionError(f"a test tried to connect to {host}; tests talk to loopback alone")


sys.addaudithook(_only_loopback)


@pytest.fixture(autouse=True, scope="session")
def broker() -> Iterator[None]:
    """Run the embedded broker for the session, unless the tests were given a Redis."""
    from django.conf import settings

    from panel import broker as embedded
    from panel.orphans import die_with_parent

    if settings.REDIS_URL:
        yield
        return
    folder = DATA_DIR / "broker"
    for private in (folder, settings.BROKER_SOCKET.parent):
        embedded.private_folder(private)
    command = embedded.command(embedded.server(), socket=settings.BROKER_SOCKET, folder=folder)
    with subprocess.Popen(
        command, start_new_session=True, preexec_fn=partial(die_with_parent, os.getpid())
    ) as server:
        _wait_for(settings.BROKER_SOCKET)
        yield
        server.kill()


def _wait_for(path: Path) -> None:
    for _ in range(2000):  # twenty seconds, on a busy machine
        with socket.socket(socket.AF_UNIX) as client:
            if client.connect_ex(str(path)) == 0:
                return
        time.sleep(0.01)
    raise AssertionError("the embedded broker did not start")


@pytest.fixture(autouse=True)
def _empty_broker(broker: None) -> Iterator[None]:
    """Take what the test left in cache and queues, by prefix: a shared Redis keeps what is not ours."""
    yield
    from django.conf import settings
    from django.core.cache import cache
    from redis import Redis

    clients = [cache._cache.get_client()]  # type: ignore[attr-defined]
    if not settings.REDIS_URL:  # the embedded broker keeps queues and cache in two databases
        clients.append(Redis(unix_socket_path=str(settings.BROKER_SOCKET)))
    for client in clients:
        for key in client.scan_iter("pf:*"):
            client.delete(key)
        client.close()


@pytest.fixture(autouse=True)
def _plain_parts(settings: Any) -> None:
    """Plain static files (no manifest is built for tests) and a quick password hash of the real kind."""
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    settings.PASSWORD_HASHERS = ["tests.hashers.QuickArgon2"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Test SQLite in a file: threads then meet the same locks as in the product."""
    from django.db import connection

    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(DATA_DIR / "test.sqlite3")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Let SQLite's test database be emptied between tests: its audit events refuse to be deleted.

    PostgreSQL is emptied by TRUNCATE, which the guard does not see; one test puts this one back.
    """
    from django.db import connection

    with django_db_blocker.unblock():
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("DROP TRIGGER panel_audit_no_delete")


@pytest.fixture(autouse=True)
def _nobody_reads() -> None:
    """Forget the language and zone of the reader that the last test's pages were for."""
    from django.utils import timezone, translation

    translation.deactivate()
    timezone.deactivate()


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """Run a real OpenSSH server on loopback for the session."""
    with running_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server
