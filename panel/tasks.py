"""What the worker does: ids in, nothing out. The rows are the truth, a message is only a doorbell.

Nothing here catches an error: a send that fails leaves its runs queued, a climb that fails leaves its
runs running, and the sweep finds both when their leases run out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial

from celery import shared_task
from django.db import transaction
from django.utils import timezone

import checks
from panel import briefing, ledger, schedule
from panel.batches import timely
from panel.models import Run

BATCH = 200
# Outcomes wait this long for company before they are written together.
SECONDS = 0.4
SCHEDULED, ASKED_FOR = 5, 1  # a small number goes first


@shared_task
def tick() -> None:
    """Sweep: settle what is overdue, open what is due, ring for both. Two at once do no harm."""
    now = timezone.now()
    with transaction.atomic():
        runs = ledger.miss_overdue(now) + schedule.claim_due(now)
        transaction.on_commit(partial(send, runs))
    ledger.beat("tick", now)


@shared_task
def climb(run_ids: list[int]) -> None:
    """Climb the ladder for the runs that nobody took yet, and write outcomes as they arrive."""
    runs = {run.code: run for run in ledger.start(run_ids, timezone.now())}
    ledger.beat("worker", timezone.now())
    specs, refused = briefing.brief(list(runs.values()))
    ledger.close_many([(runs[outcome.spec_id], outcome) for outcome in refused], timezone.now())
    for batch in timely(checks.run_many(specs), size=BATCH, seconds=SECONDS):
        ledger.close_many([(runs[outcome.spec_id], outcome) for outcome in batch], timezone.now())


@shared_task
def ask_balance(endpoint_id: int) -> None:
    """Ask an endpoint what is left on its key, and remember what it said."""
    spec = briefing.brief_balance(endpoint_id)
    if spec is not None:
        ledger.tell_balance(endpoint_id, checks.ask_balance(spec))


@shared_task
def prune() -> None:
    """Let go of what is past its time."""
    ledger.prune(timezone.now())


def send(runs: Iterable[Run]) -> None:
    """Ring for opened runs (call it on commit): one message a batch, to the queue of the runs' place."""
    doors: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for run in runs:
        doors[run.place, run.trigger].append(run.pk)
    for (place, trigger), pks in doors.items():
        urgency = ASKED_FOR if trigger == Run.Trigger.PERSON else SCHEDULED
        for batch in _batches(pks):
            climb.apply_async(args=(batch,), queue=place, priority=urgency)


def _batches(pks: Sequence[int]) -> list[Sequence[int]]:
    return [pks[start : start + BATCH] for start in range(0, len(pks), BATCH)]
