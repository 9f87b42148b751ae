"""The Celery application, configured by `panel.settings` under CELERY_, with beat inside the worker."""

from __future__ import annotations

import gc
import os
from threading import Thread

from celery import Celery, signals
from celery.beat import Scheduler, Service

from panel.orphans import watch_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "panel.settings")
app = Celery("preflight")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["panel"])

GC_THRESHOLDS = (20_000, 20, 20)
_beats: list[tuple[Service, Thread]] = []


@signals.setup_logging.connect
def keep_logging(**kwargs: object) -> None:
    """Tell Celery that logging is configured: Django's, with the redacting filter."""


@signals.worker_init.connect
def follow_the_supervisor(**kwargs: object) -> None:
    """End with the supervisor that started this worker, where there is one."""
    if parent := os.environ.get("PREFLIGHT_SUPERVISOR"):
        watch_parent(int(parent))


@signals.worker_ready.connect
def collect_seldom(**kwargs: object) -> None:
    """Leave what was loaded out of the search for cycles, and search less often: a batch makes thousands of
    rows that hold none, and each search would walk over them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


@signals.worker_ready.connect
def start_beat(**kwargs: object) -> None:
    """Start beat as a thread: a beat of its own process would outlive a killed worker and go on sending."""
    from django.conf import settings

    if settings.BEAT_IN_WORKER:
        # This scheduler keeps its two lines in memory; Celery's usual one writes files where it stands.
        beat = Service(app, max_interval=1, scheduler_cls=Scheduler)
        _beats.append((beat, Thread(target=beat.start, name="beat", daemon=True)))
        _beats[-1][1].start()


def beat_lives() -> bool:
    """Tell whether this process carries a beat that runs."""
    return any(thread.is_alive() for _, thread in _beats)


@signals.worker_shutting_down.connect
def stop_beat(**kwargs: object) -> None:
    """Send no more ticks. It runs inside a signal handler, so it does not wait for the thread."""
    while _beats:
        _beats.pop()[0].stop(wait=False)
