"""A real worker, killed between the sending of a notice and its mark."""

from __future__ import annotations

import socket
import time
from datetime import UTC, datetime, timedelta

import pytest

from panel import tasks
from panel.models import Notice
from tests import make
from tests.checks.local import LocalServer, serving
from tests.panel.notices.told import answering, channel, queued
from tests.panel.time.test_killed_worker import until, worker

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def silent(connection: socket.socket, request: bytes) -> None:
    """It has taken the message, and its answer does not come before the worker dies."""
    time.sleep(8)


def killed_while_sending(kind: str, server: LocalServer) -> None:
    queued(channel(make.team(), kind, secret=f"http://127.0.0.1:{server.port}/"))
    tasks.ring_for_notices()
    with worker():
        until(lambda: len(server.seen) == 1)
    Notice.objects.update(lease_until=datetime.now(UTC) - timedelta(seconds=1))


def test_a_chat_is_not_told_twice_and_a_person_sees_that_it_is_unclear() -> None:
    with serving(silent) as server:
        killed_while_sending("slack", server)
        tasks.tick()
        tasks.send_notices()
    notice = Notice.objects.get()
    assert (notice.state, notice.failure, len(server.seen)) == ("dead", "unclear", 1)


def test_a_webhook_gets_the_same_message_under_the_same_key_again() -> None:
    with serving(silent) as server:
        killed_while_sending("webhook", server)
        first = server.seen[0]
    tasks.tick()
    with serving(answering(200)) as well:
        move(well.port)
        tasks.send_notices()
    again = well.seen[0]
    assert Notice.objects.get().state == "sent"
    assert again.partition(b"\r\n\r\n")[2] == first.partition(b"\r\n\r\n")[2]
    assert key_of(again) == key_of(first) != ""


def move(port: int) -> None:
    """Point the channel to another server, and let its notice be due."""
    notice = Notice.objects.select_related("channel__team").get()
    other = channel(notice.channel.team, "webhook", secret=f"http://127.0.0.1:{port}/")
    Notice.objects.update(channel=other, due_at=datetime.now(UTC) - timedelta(seconds=1))


def key_of(request: bytes) -> str:
    lines = request.decode().lower().split("\r\n")
    return next((line for line in lines if line.startswith("idempotency-key:")), "")
