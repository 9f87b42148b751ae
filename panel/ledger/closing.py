"""Outcomes into rows: runs, lane states, hours, transitions and kept steps, one transaction a batch.

Full steps are kept of runs that failed or could not be asked, that changed a lane's state, that a
person asked for, and of the newest pass of each lane; the steps of an ordinary pass go when the next
one comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef

from checks import Outcome
from panel.ledger import states
from panel.ledger.hours import HourBook, hour_of, lock_states
from panel.ledger.steps import to_json
from panel.models import LaneState, Run, RunSteps, Transition

RUN_FIELDS = (
    "state", "lease_until", "status", "rung", "reason", "started_at", "finished_at", "duration_ms",
    "latency_ms", "tokens", "profile_version", "key_number",
)  # fmt: skip
STATE_FIELDS = (
    "state", "since", "status", "rung", "reason", "last_run", "last_pass", "evidence_at", "latency_ms",
    "recent", "passed", "token_parameter", "tokens_day", "tokens_spent",
)  # fmt: skip


def close_many(results: Iterable[tuple[Run, Outcome]], now: datetime) -> list[Run]:
    """Write the outcomes of started runs (as `start` returned them); return the runs closed.

    A run that was closed, missed or taken by another worker meanwhile is left as it is, so no run
    ends twice. Evidence older than what a lane's state stands on is counted, and changes no state.
    """
    with transaction.atomic():
        pairs = sorted(_still_ours(results), key=lambda pair: pair[1].started)
        for run, outcome in pairs:
            _fill(run, outcome, now)
        if pairs:
            _write(pairs)
    return [run for run, _ in pairs]


def _still_ours(results: Iterable[tuple[Run, Outcome]]) -> list[tuple[Run, Outcome]]:
    pairs = {run.pk: (run, outcome) for run, outcome in results}
    held = (
        Run.objects.select_for_update()
        .filter(pk__in=pairs, state=Run.State.RUNNING)
        .order_by("pk")
        .values_list("pk", "attempts")
    )
    return [pairs[pk] for pk, attempts in held if pairs[pk][0].attempts == attempts]


def _fill(run: Run, outcome: Outcome, now: datetime) -> None:
    """Copy the outcome into the run's columns. A clock ahead of ours does not reach into the future."""
    run.state, run.lease_until = Run.State.DONE, None
    run.status, run.rung, run.reason = str(outcome.status), int(outcome.rung), str(outcome.reason or "")
    run.started_at = outcome.started
    run.finished_at = min(outcome.started + timedelta(milliseconds=outcome.duration_ms), now)
    run.duration_ms, run.tokens = round(outcome.duration_ms), outcome.tokens
    run.latency_ms = None if outcome.latency_ms is None else round(outcome.latency_ms)


def _write(pairs: list[tuple[Run, Outcome]]) -> None:
    lanes = {run.check_order.lane_id for run, _ in pairs}
    lane_states = lock_states(lanes)
    passes_before = {lane: state.last_pass_id for lane, state in lane_states.items()}
    book = HourBook(lanes, {hour_of(run.finished_at) for run, _ in pairs if run.finished_at})
    transitions = _judge(pairs, lane_states, book)
    Run.objects.bulk_create(
        [run for run, _ in pairs], update_conflicts=True, unique_fields=["id"], update_fields=RUN_FIELDS
    )
    LaneState.objects.bulk_create(
        lane_states.values(), update_conflicts=True, unique_fields=["id"], update_fields=STATE_FIELDS
    )
    book.save()
    Transition.objects.bulk_create(transitions)
    _keep_steps(pairs, lane_states, {each.run_id for each in transitions})
    _drop_steps(
        [old for lane, old in passes_before.items() if old and lane_states[lane].last_pass_id != old]
    )


def _judge(
    pairs: list[tuple[Run, Outcome]], lane_states: dict[int, LaneState], book: HourBook
) -> list[Transition]:
    transitions = []
    for run, outcome in pairs:
        assert run.finished_at is not None
        state = lane_states[run.check_order.lane_id]
        states.spend(state, run.tokens, run.finished_at)
        newest = state.evidence_at is None or run.finished_at >= state.evidence_at
        changed = states.advance(state, run, outcome) if newest else None
        book.count(state.lane_id, run, state.state if newest else "")
        if changed is not None:
            transitions.append(changed)
    return transitions


def _keep_steps(
    pairs: list[tuple[Run, Outcome]], lane_states: dict[int, LaneState], changing: set[int | None]
) -> None:
    newest_passes = {state.last_pass_id for state in lane_states.values()}
    RunSteps.objects.bulk_create(
        RunSteps(run=run, steps=to_json(outcome.steps))
        for run, outcome in pairs
        if run.status in ("down", "not_testable")
        or run.trigger == Run.Trigger.PERSON
        or run.pk in changing
        or run.pk in newest_passes
    )


def _drop_steps(old_passes: list[int]) -> None:
    """Let the steps of passes go that are no longer the newest, unless they are kept for another reason."""
    changed = Transition.objects.filter(run=OuterRef("run"))
    RunSteps.objects.filter(run__in=old_passes, run__trigger=Run.Trigger.SCHEDULE).exclude(
        Exists(changed)
    ).delete()
