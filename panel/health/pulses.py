"""The signs of life that worker, clock and sweep leave, a row each.

A worker writes its own from a thread: one whose places are all taken by long runs is busy, not silent.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any, Final

from celery import current_app, signals
from django.conf import settings
from django.db import DatabaseError, connections
from django.utils import timezone

from panel import celery, ledger
from panel.models import Check, Host, Pulse

EVERY_S: Final = 10.0
WORKER: Final = "worker:"
FORGOTTEN_AFTER: Final = timedelta(minutes=10)

logger = logging.getLogger(__name__)
_ending = Event()


def swept(now: datetime) -> None:
    """Note that the sweep is at work, and which zones must have a worker."""
    if ledger.beat("tick", now):
        know_zones(now)


def know_zones(now: datetime) -> None:
    """Keep one row for each zone that something is checked from, silent from now on if no worker is there;
    forget the silent ones that nothing is checked from any more."""
    wanted = {WORKER + zone for zone in zones_in_use()}
    Pulse.objects.bulk_create([Pulse(name=name, at=now) for name in sorted(wanted)], ignore_conflicts=True)
    old = Pulse.objects.filter(name__startswith=WORKER, at__lt=now - FORGOTTEN_AFTER)
    old.exclude(name__in=wanted).delete()


def zones_in_use() -> set[str]:
    """Return the zones that lanes or hosts are checked from just now, and this instance's own."""
    places = Check.objects.filter(next_run_at__isnull=False).values_list("place", flat=True).distinct()
    zones = Host.objects.filter(next_reading_at__isnull=False).values_list("zone", flat=True).distinct()
    return {settings.ZONE, *places.order_by(), *zones.order_by()}


def note_worker(zones: Iterable[str], *, clock: bool, now: datetime) -> None:
    """Note that a worker of these zones lives, and with it the clock where it carries one."""
    for zone in zones:
        ledger.beat(WORKER + zone, now)
    if clock:
        ledger.beat("beat", now)


@signals.worker_ready.connect
def start_pulse(**kwargs: Any) -> None:
    """Note from now on, in a thread, that this worker lives."""
    _ending.clear()
    Thread(target=_pulse, name="pulse", daemon=True).start()


@signals.worker_shutting_down.connect
def stop_pulse(**kwargs: Any) -> None:
    """Say no more: a worker that is ending takes nothing."""
    _ending.set()


def _pulse() -> None:
    zones = sorted(current_app.amqp.queues.consume_from)
    while not _ending.is_set():
        try:
            note_worker(zones, clock=celery.beat_lives(), now=timezone.now())
        except DatabaseError as error:
            logger.warning("The worker cannot note that it lives: %s.", type(error).__name__)
        finally:
            connections.close_all()  # what broke is not tried again, and a pool gets its connection back
        _ending.wait(EVERY_S)
