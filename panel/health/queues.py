"""What waits in the broker, read with a short patience."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, Final

import redis
from django.conf import settings
from kombu.transport.redis import PRIORITY_STEPS, Channel
from redis.backoff import NoBackoff
from redis.retry import Retry

PATIENCE_S: Final = 1.0


def depths(zones: Iterable[str]) -> dict[str, int] | None:
    """Return how many messages wait in each zone's queue; None when the broker does not answer in time."""
    try:
        with contextlib.closing(_client()) as client, client.pipeline(transaction=False) as pipe:
            keys = [(zone, key) for zone in zones for key in _keys(zone)]
            pipe.ping()
            for _, key in keys:
                pipe.llen(key)
            _, *lengths = pipe.execute()
    except redis.RedisError:
        return None
    found = dict.fromkeys((zone for zone, _ in keys), 0)
    for (zone, _), length in zip(keys, lengths, strict=True):
        found[zone] += int(length)
    return found


def _keys(zone: str) -> list[str]:
    """The lists in which kombu keeps one queue, one for each step of priority."""
    prefix = settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"]
    return [f"{prefix}{zone}{Channel.sep}{step}" if step else f"{prefix}{zone}" for step in PRIORITY_STEPS]


def _client() -> redis.Redis:
    patience: dict[str, Any] = {
        "socket_timeout": PATIENCE_S,
        "socket_connect_timeout": PATIENCE_S,
        "retry": Retry(NoBackoff(), 0),
    }
    if settings.REDIS_URL:
        return redis.Redis.from_url(settings.REDIS_URL, **patience)
    return redis.Redis(unix_socket_path=str(settings.BROKER_SOCKET), **patience)
