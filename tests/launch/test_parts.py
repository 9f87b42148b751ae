"""The parts that tests stand on."""

from __future__ import annotations

import socket

import pytest
from django.core.cache import cache

from panel.models import User


def test_the_cache_of_a_test_is_the_embedded_broker_or_the_given_redis():
    cache.set("word", "kept", 10)
    assert cache.get("word") == "kept"


@pytest.mark.django_db
def test_rows_are_written_and_read():
    User.objects.create_user("lin@acme.example", "correct horse", name="Lin")
    assert User.objects.get().check_password("correct horse")


def test_a_connection_that_leaves_this_machine_is_refused():
    with socket.socket() as client, pytest.raises(AssertionError, match="loopback alone"):
        client.connect(("192.0.2.1", 80))
