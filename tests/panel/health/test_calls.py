"""The call to a dead man's switch: once a minute, and never its address in a log."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from panel import health
from tests import make
from tests.checks.local import serving
from tests.panel.notices.told import answering

pytestmark = pytest.mark.django_db
NOON = make.NOON


def test_without_a_switch_no_call_is_due() -> None:
    assert not health.call_is_due(NOON)


def test_a_call_is_due_once_a_minute(settings) -> None:
    settings.HEARTBEAT_URL = "https://switch.example/ping/1"
    due = [health.call_is_due(NOON + timedelta(seconds=second)) for second in range(0, 181, 2)]
    assert sum(due) == 4


def test_the_switch_is_called(settings) -> None:
    with serving(answering(200)) as server:
        settings.HEARTBEAT_URL = f"http://127.0.0.1:{server.port}/ping/canary?status=up"
        assert health.call_home()
    assert server.seen[0].startswith(b"GET /ping/canary?status=up HTTP/1.1\r\n")


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_switch_that_does_not_take_it_is_logged_without_its_address(settings, caplog, status: int) -> None:
    with serving(answering(status)) as server, caplog.at_level(logging.DEBUG):
        settings.HEARTBEAT_URL = f"http://127.0.0.1:{server.port}/ping/canary"
        assert not health.call_home()
    assert f"status {status}" in caplog.text
    assert "canary" not in caplog.text


def test_a_switch_that_cannot_be_reached_is_logged(settings, caplog) -> None:
    settings.HEARTBEAT_URL = "http://127.0.0.1:9/ping/canary"
    assert not health.call_home()
    assert "canary" not in caplog.text
