"""Outcomes into rows: runs, lane states, hours, transitions and kept steps, one transaction a batch.

Full steps are kept of runs that failed or could not be asked, that changed a lane's state, that a
person asked for, that climbed above the second rung, and of the newest pass of each lane; the steps of an
ordinary pass go when the next one comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from checks import Outcome
from panel.ledger import states
from panel.ledger.bulk import insert_rows, update_rows, upsert_rows
from panel.ledger.hours import MAINTENANCE, HourBook, hour_of, lock_states
from panel.ledger.leftovers import forget_leftovers
from panel.ledger.opening import SHALLOW
from panel.ledger.proofs import prove_keys
from panel.ledger.retests import bring_forward
from panel.ledger.steps import to_json
from panel.models import LaneState, Run, RunSteps, Transition

RUN_FIELDS = (
    "state", "lease_until", "status", "rung", "reason", "started_at", "finished_at", "duration_ms",
    "latency_ms", "tokens", "profile_version", "key_number",
)  # fmt: skip
STATE_FIELDS = (
    "state", "since", "status", "rung", "reason", "last_run", "last_pass", "evidence_at", "latency_ms",
    "recent", "passed", "token_parameter", "tokens_day", "tokens_spent",
    "contract_at", "contract_broken", "upper_at", "upper_broken", "flapping", "stale_at",
)  # fmt: skip


def close_many(results: Iterable[tuple[Run, Outcome]], now: datetime) -> list[Run]:
    """Write the outcomes of started runs (as `start` returned them); return the runs closed.

    A run that was closed, missed or taken by another worker meanwhile is left as it is, so no run
    ends twice. Evidence older than what a lane's state stands on is counted, and changes no state.
    """
    pairs = {run.pk: (run, outcome) for run, outcome in results}
    if not pairs:
        return []
    with transaction.atomic():
        closed = [_close(run, outcome, now) for run, outcome in _still_ours(pairs)]
        if closed:
            _write(sorted(closed, key=lambda each: each.at), now)
    return [each.run for each in closed]


@dataclass(frozen=True, slots=True)
class _Closed:
    run: Run
    outcome: Outcome
    at: datetime

    @property
    def lane(self) -> int:
        return self.run.check_order.lane_id


def _still_ours(pairs: dict[int, tuple[Run, Outcome]]) -> list[tuple[Run, Outcome]]:
    held = (
        Run.objects.select_for_update()
        .filter(pk__in=pairs, state=Run.State.RUNNING)
        .order_by("pk")
        .values_list("pk", "attempts")
    )
    return [pairs[pk] for pk, attempts in held if pairs[pk][0].attempts == attempts]


def _close(run: Run, outcome: Outcome, now: datetime) -> _Closed:
    """Copy the outcome into the run's columns; nothing ends later than now, whatever a clock says."""
    at = min(outcome.started + timedelta(milliseconds=outcome.duration_ms), now)
    run.state, run.lease_until = Run.State.DONE, None
    run.status, run.rung, run.reason = str(outcome.status), int(outcome.rung), str(outcome.reason or "")
    run.started_at, run.finished_at = outcome.started, at
    run.duration_ms, run.tokens = round(outcome.duration_ms), outcome.tokens
    run.latency_ms = None if outcome.latency_ms is None else round(outcome.latency_ms)
    return _Closed(run, outcome, at)


def _write(closed: list[_Closed], now: datetime) -> None:
    """Write the closed runs, oldest first, and all that follows from them."""
    lanes = {each.lane for each in closed}
    lane_states = lock_states(lanes)
    passes_before = {lane: state.last_pass_id for lane, state in lane_states.items()}
    book = HourBook(lanes, {hour_of(each.at) for each in closed})
    transitions = _judge(closed, lane_states, book, now)
    update_rows([each.run for each in closed], RUN_FIELDS)
    update_rows(list(lane_states.values()), STATE_FIELDS)
    book.save()
    bring_forward([each.run for each in closed if lane_states[each.lane].last_run == each.run], now)
    prove_keys([each.run for each in closed])
    Transition.objects.bulk_create(transitions)
    newest_passes = {state.last_pass_id for state in lane_states.values()}
    _keep_steps(closed, newest_passes, {each.run_id for each in transitions})
    forget_leftovers([each.run for each in closed])
    _drop_steps([old for old in passes_before.values() if old and old not in newest_passes])


def _judge(
    closed: list[_Closed], lane_states: dict[int, LaneState], book: HourBook, now: datetime
) -> list[Transition]:
    transitions = []
    for each in closed:
        state = lane_states[each.lane]
        states.spend(state, each.run.tokens, each.at)
        newest = state.evidence_at is None or not each.at < state.evidence_at <= now  # no clock was ahead
        changed = states.advance(state, each.run, each.outcome, each.at) if newest else None
        expected = states.maintained(state, each.at)
        book.count(each.lane, each.run, each.at, MAINTENANCE if expected else state.state if newest else "")
        if changed is not None:
            transitions.append(changed)
    return transitions


def _keep_steps(closed: list[_Closed], newest_passes: set[int | None], changing: set[int | None]) -> None:
    """Keep the steps of failures, of what a person asked for, of deep climbs, of the runs that changed a
    state, and until the next pass those of the newest."""
    rows = [
        RunSteps(run=each.run, steps=to_json(each.outcome.steps), lasting=lasting)
        for each in closed
        if (lasting := _is_notable(each.run) or each.run.pk in changing) or each.run.pk in newest_passes
    ]
    # A deep run has told steps already; a plain one is inserted, which costs less.
    told = [row for row in rows if row.run.top_rung > SHALLOW]
    insert_rows([row for row in rows if row.run.top_rung <= SHALLOW], ("run", "steps", "lasting"))
    upsert_rows(told, ("run",), ("steps", "lasting"))


def _is_notable(run: Run) -> bool:
    failed = run.status in ("down", "not_testable")
    return failed or run.trigger == Run.Trigger.PERSON or run.top_rung > SHALLOW


def _drop_steps(old_passes: list[int]) -> None:
    """Let the steps of passes go that are no longer the newest, unless they are kept for another reason."""
    RunSteps.objects.filter(run__in=old_passes, lasting=False).delete()
