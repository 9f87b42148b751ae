"""The watchdog of a web process: it sends by itself what the workers, who are silent, would not send."""

from __future__ import annotations

import logging
from threading import Thread
from time import sleep
from typing import Final

from django.db import DatabaseError, connections
from django.utils import timezone

from panel import health, tasks

EVERY_S: Final = 15.0

logger = logging.getLogger(__name__)


def start() -> Thread:
    """Watch from now on, in a thread that ends with the process."""
    thread = Thread(target=_watch, name="watchdog", daemon=True)
    thread.start()
    return thread


def look(*, silent: bool) -> None:
    """Tell, and send, what is to be told of the sweep."""
    if health.look(timezone.now(), silent=silent):
        tasks.send_notices()


def _watch() -> None:
    watch = health.Watch()
    while True:
        try:
            look(silent=watch.silent())
        except DatabaseError as error:
            logger.warning("The watchdog cannot read the rows: %s.", type(error).__name__)
        finally:
            connections.close_all()
        sleep(EVERY_S)
