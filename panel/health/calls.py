"""The call to a dead man's switch elsewhere, which raises the alarm when it does not come any more."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings

from checks import EgressPolicy
from checks.egress import exchange
from panel import ledger

EVERY: Final = timedelta(seconds=60)
SECONDS: Final = 10.0

logger = logging.getLogger(__name__)


def call_is_due(now: datetime) -> bool:
    """Tell, to one asker a minute, that the operator's switch is to be called."""
    return bool(settings.HEARTBEAT_URL) and ledger.beat("call", now, every=EVERY)


def call_home() -> bool:
    """Call the switch once; tell whether it answered with a 2xx. Its address is never logged: a secret."""
    got = asyncio.run(
        exchange(
            "GET",
            settings.HEARTBEAT_URL,
            policy=EgressPolicy(allowed=settings.EGRESS_ALLOWED),
            deadline=SECONDS,
        )
    )
    if got.status is not None and 200 <= got.status < 300:
        return True
    why = got.failure.kind if got.failure else f"status {got.status}"
    logger.warning("The dead man's switch did not take the call: %s.", why)
    return False
