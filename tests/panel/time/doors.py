"""The broker's queues as a test sees them, and a lane that a real server answers for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import current_app
from kombu.pools import reset

from checks import simulator
from panel import schedule
from panel.models import Check
from tests import make

KEY = "sk-canary-0123456789abcdef"


def due_check(server: simulator.Server, **fields: Any) -> Check:
    """The due check of a lane that uses this server, with the key it wants."""
    team = make.team()
    endpoint = make.endpoint(team, key=KEY, base_url=server.base_url, origin=server.origin)
    check = Check.objects.get(
        lane__profile=make.profile(team, lanes=("agent",), endpoint=endpoint), lane__kind="agent"
    )
    for name, value in fields.items():
        setattr(check, name, value)
    now = datetime.now(UTC)
    check.next_run_at = schedule.next_slot(check, now) - timedelta(seconds=check.interval_s)
    check.save()
    return check


def take(queue: str = "panel") -> list[Any]:
    """Take all messages that wait at a door."""
    found = []
    with current_app.connection_for_read() as connection:
        waiting = connection.SimpleQueue(queue)
        while True:
            try:
                message = waiting.get_nowait()
            except waiting.Empty:
                waiting.close()
                return found
            message.ack()
            found.append(message)


@contextmanager
def dead_broker() -> Iterator[None]:
    """No broker answers inside."""
    conf, before = current_app.conf, current_app.conf.broker_write_url
    conf.broker_write_url = "redis+socket:///nowhere/at/all.sock?virtual_host=0"
    _new_connections()
    try:
        yield
    finally:
        conf.broker_write_url = before
        _new_connections()


def _new_connections() -> None:
    current_app.amqp._producer_pool = None
    reset()
