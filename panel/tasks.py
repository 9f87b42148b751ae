"""What the worker does: ids in, nothing out. The rows are the truth, a message is only a doorbell.

Nothing here catches an error: a send that fails leaves its runs queued, a climb that fails leaves its
runs running, and the sweep finds both when their leases run out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial

from celery import shared_task
from django.db import transaction
from django.utils import timezone

import checks
from checks import LaneSpec, Outcome, Told
from panel import briefing, health, incidents, ledger, maintenance, notices, reports, schedule
from panel.batches import timely
from panel.models import HostReading, Run

BATCH = 200
# Outcomes wait this long for company before they are written together.
SECONDS = 0.4
SENDING = timedelta(seconds=60)
RING_EXPIRES_S = 10
SCHEDULED, ASKED_FOR = 5, 1  # a small number goes first


@shared_task
def tick() -> None:
    """Sweep: settle what is overdue, open what is due, ring for both. Two at once do no harm."""
    now = timezone.now()
    if ledger.was_set_back(now):
        schedule.set_back(now)
    with transaction.atomic():
        runs = ledger.miss_overdue(now) + schedule.claim_due(now)
        transaction.on_commit(partial(send, runs))
        readings = ledger.miss_overdue_readings(now) + schedule.claim_readings(now)
        transaction.on_commit(partial(send_readings, readings))
        transaction.on_commit(partial(_send_tidying, ledger.claim_leftovers(now)))
    incidents.follow(now)
    if reports.is_due(now):
        make_reports.apply_async(expires=RING_EXPIRES_S, priority=SCHEDULED)
    notices.settle_lost(now)
    if notices.waiting(now):
        ring_for_notices()
    if health.call_is_due(now):
        call_home.apply_async(expires=RING_EXPIRES_S, priority=SCHEDULED)
    health.swept(now)


@shared_task
def open_due() -> None:
    """Open what is due and ring for it: the part of `tick` that may not be late. Two at once do no harm."""
    with transaction.atomic():
        runs = schedule.claim_due(timezone.now())
        transaction.on_commit(partial(send, runs))


@shared_task
def keep_time() -> None:
    """Let pauses end, and maintenance begin and end; call lanes unknown that nothing was heard of; follow a
    clock that was set back. Two at once do no harm."""
    now = timezone.now()
    with transaction.atomic():
        schedule.resume_due(now)
        schedule.come_back(now)
        maintenance.keep(now)
        ledger.mark_stopped(now)
        ledger.call_unknown(now)
    incidents.catch_up(now)


@shared_task
def climb(run_ids: list[int]) -> None:
    """Climb the ladder for the runs that nobody took yet, and write outcomes as they arrive."""
    runs = {run.code: run for run in ledger.start(run_ids, timezone.now())}
    specs, refused = briefing.brief(list(runs.values()))
    _close([(runs[outcome.spec_id], outcome) for outcome in refused])
    for batch in timely(checks.run_many(specs), size=BATCH, seconds=SECONDS):
        _close([(runs[outcome.spec_id], outcome) for outcome in batch])


@shared_task
def climb_high(run_id: int) -> None:
    """Climb above the second rung, if it is this run's turn, and write down what is told on the way."""
    run = ledger.start_deep(run_id, timezone.now())
    if run is None:
        return
    specs, refused = briefing.brief([run])
    _close([(run, outcome) for outcome in refused])
    for spec in specs:
        _follow(run, spec)


@shared_task
def tidy(run_id: int) -> None:
    """Remove what a dry run left whose worker died."""
    specs, refused = briefing.brief_tidying(run_id)
    steps = [step for spec in specs for step in checks.clean_up(spec)]
    steps += [step for outcome in refused for step in outcome.steps]
    ledger.settle_leftover(run_id, steps, timezone.now())


@shared_task
def read_host(reading_id: int) -> None:
    """Look at a host, and write down what was seen."""
    reading = ledger.start_reading(reading_id, timezone.now())
    spec = briefing.brief_host(reading.host_id) if reading else None
    if reading and spec:
        models = briefing.models_on(reading.host_id)
        seen = checks.look_at(spec, run=reading.code, models=models)
        ledger.close_reading(reading, seen, timezone.now())


@shared_task
def ask_host_key(host_id: int) -> None:
    """Ask a machine for its host key, for a lead to see."""
    spec = briefing.brief_host(host_id)
    if spec is not None:
        ledger.tell_offered(host_id, checks.ask_host_key(spec), timezone.now())


@shared_task
def ask_balance(endpoint_id: int) -> None:
    """Ask an endpoint what is left on its key, and remember what it said."""
    spec = briefing.brief_balance(endpoint_id)
    if spec is not None:
        ledger.tell_balance(endpoint_id, checks.ask_balance(spec))


@shared_task
def send_notices() -> None:
    """Send what is due, a round at a time, until nothing is or a minute has passed; two at once share it."""
    ends = timezone.now() + SENDING
    while (now := timezone.now()) < ends and (taken := notices.start(now)):
        for sending, result in notices.deliver(briefing.brief_notices(taken)):
            notices.settle(sending.notice_id, sending.attempt, result, timezone.now())


@shared_task
def remind() -> None:
    """Plan reminders of keys that expire soon; each is told once."""
    notices.plan_keys(timezone.now())


@shared_task
def make_reports() -> None:
    """Make the reports that are due, and plan their sending."""
    reports.make_due(timezone.now())


@shared_task
def call_home() -> None:
    """Tell the operator's dead man's switch that checks run."""
    health.call_home()


@shared_task
def prune() -> None:
    """Let go of what is past its time."""
    ledger.prune(timezone.now())
    notices.prune(timezone.now())


def send(runs: Iterable[Run]) -> None:
    """Ring for opened runs (call it on commit): one message a batch, to the queue of the runs' place. A deep
    run has a message of its own, so that it keeps no other waiting."""
    doors: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for run in runs:
        urgency = ASKED_FOR if run.trigger == Run.Trigger.PERSON else SCHEDULED
        if run.top_rung > ledger.SHALLOW:
            climb_high.apply_async(args=(run.pk,), queue=run.place, priority=urgency)
        else:
            doors[run.place, urgency].append(run.pk)
    for (place, urgency), pks in doors.items():
        for batch in _batches(pks):
            climb.apply_async(args=(batch,), queue=place, priority=urgency)


def send_readings(readings: Iterable[HostReading]) -> None:
    """Ring for opened readings (call it on commit), each at the door of its host's zone."""
    for reading in readings:
        urgency = ASKED_FOR if reading.asked_by_id else SCHEDULED
        read_host.apply_async(args=(reading.pk,), queue=reading.host.zone, priority=urgency)


def ring_for_notices() -> None:
    """Ring for notices that are due. The tick rings again, so a message that waited long is worth nothing."""
    send_notices.apply_async(expires=RING_EXPIRES_S, priority=ASKED_FOR)


def _send_tidying(runs: Iterable[Run]) -> None:
    for run in runs:
        tidy.apply_async(args=(run.pk,), queue=run.place, priority=SCHEDULED)


def _follow(run: Run, spec: LaneSpec) -> None:
    """Climb, and say every few seconds that this worker is still there: one that is killed is missed soon."""
    notes = ledger.Notebook(run, spec.recipe.output_cap if spec.recipe else 0)
    for batch in timely(checks.follow_many([spec]), size=BATCH, seconds=SECONDS, idle=ledger.HOLD_S / 4):
        if not ledger.hold(run, timezone.now()):
            return  # taken for lost meanwhile: what goes on elsewhere is ended, and tidied up by the sweep
        notes.note([each for each in batch if isinstance(each, Told)], timezone.now())
        _close([(run, each) for each in batch if isinstance(each, Outcome)])


def _close(results: Sequence[tuple[Run, Outcome]]) -> None:
    """Write outcomes and what follows of them; what a death between the two leaves, the tick follows."""
    if results:
        ledger.close_many(results, timezone.now())
        incidents.follow(timezone.now())


def _batches(pks: Sequence[int]) -> list[Sequence[int]]:
    return [pks[start : start + BATCH] for start in range(0, len(pks), BATCH)]
