"""How often a person may cause work: deeds a minute, counted in the cache that all processes share."""

from __future__ import annotations

import logging
import time

import redis
from django.core.cache import cache

# A person's own pace and some to spare; a script that presses a button for ever is stopped.
A_MINUTE = {"run": 20, "balance": 10, "export": 30, "key": 20, "reading": 10, "dry_run": 6, "notice": 6}
MINUTE_S = 60

logger = logging.getLogger(__name__)


def seconds_to_wait(user_id: int, deed: str) -> int:
    """Count one deed of this person; return 0, or for how long it may not be done again.

    Without the cache nothing is limited: a broker that is down must not stop people.
    """
    now = int(time.time())
    key = f"limit:{deed}:{user_id}:{now // MINUTE_S}"
    try:
        cache.add(key, 0, timeout=2 * MINUTE_S)
        count = cache.incr(key)
    except (redis.RedisError, ValueError):
        logger.warning("Limits cannot be counted: the cache does not answer.")
        return 0
    return MINUTE_S - now % MINUTE_S if count > A_MINUTE[deed] else 0
