"""Climbs above the second rung: few at once, each on its own, told of while they are under way.

They hold a GPU host for minutes, so one runs on a host at a time and a few in a zone; the others wait in the
queue, and the sweep sends them again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max, QuerySet, Sum
from django.db.models.functions import Length

from checks import Told
from panel.ledger.leftovers import DRY, note_leftover
from panel.ledger.opening import OPEN, QUEUE_LEASE, SHALLOW
from panel.ledger.steps import printable, to_json
from panel.models import Run, RunOutput, RunSteps

IN_A_ZONE = 3
ON_A_HOST = 1
HOLD_S = 60.0  # what a worker may be silent before the run is taken for lost
HOLD = timedelta(seconds=HOLD_S)
PIECE = 65_536  # characters of one row of output


def start_deep(run_id: int, now: datetime) -> Run | None:
    """Take a deep run that waits in the queue; None when it is taken already, or must wait on.

    All that is open in its zone is held meanwhile, so that two workers do not count past each other.
    """
    with transaction.atomic():
        place = Run.objects.filter(pk=run_id).values_list("place", flat=True).first()
        rows = (
            Run.objects.select_for_update(of=("self",))
            .select_related("check_order__lane__profile")
            .filter(state__in=OPEN, top_rung__gt=SHALLOW, place=place)
            .order_by("pk")
        )
        found = list(rows)
        run = next((each for each in found if each.pk == run_id and each.state == Run.State.QUEUED), None)
        if run is None:
            return None
        if _crowded(run, [each for each in found if each.state == Run.State.RUNNING]):
            run.lease_until = now + QUEUE_LEASE
            run.save(update_fields=["lease_until"])
            return None
        run.state, run.started_at, run.lease_until = Run.State.RUNNING, now, now + HOLD
        run.save(update_fields=["state", "started_at", "lease_until"])
        if run.top_rung >= DRY:
            note_leftover(run, now)
    return run


def hold(run: Run, now: datetime) -> bool:
    """Say that the started run's worker is still there; written once in a quarter of what the lease lasts.

    False when the run was given up meanwhile.
    """
    if run.lease_until is not None and run.lease_until - now > HOLD * 3 / 4:
        return True
    run.lease_until = now + HOLD
    return bool(_ours(run).update(lease_until=run.lease_until))


class Notebook:
    """Writes down what a started run tells while it is under way, up to `cap` characters of output.

    What is told once the run is no longer this worker's is dropped.
    """

    def __init__(self, run: Run, cap: int) -> None:
        before = run.output.aggregate(number=Max("number"), size=Sum(Length("text")))
        self._run = run
        self._number: int = before["number"] or 0
        self._left = cap - (before["size"] or 0)

    def note(self, told: Iterable[Told], now: datetime) -> None:
        """Write the newest steps, and the lines that were printed."""
        told = list(told)
        if not told:
            return
        steps = next((each.steps for each in reversed(told) if each.steps), ())
        text = printable("".join(each.output for each in told))[: max(0, self._left)]
        with transaction.atomic():
            if not _ours(self._run).select_for_update().exists():
                return
            if steps:
                RunSteps.objects.update_or_create(run=self._run, defaults={"steps": to_json(steps)})
            RunOutput.objects.bulk_create(self._pieces(text, now))

    def _pieces(self, text: str, now: datetime) -> list[RunOutput]:
        self._left -= len(text)
        parts = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        rows = [RunOutput(run=self._run, number=self._number + n, at=now, text=part)
                for n, part in enumerate(parts, start=1)]  # fmt: skip
        self._number += len(rows)
        return rows


def _crowded(run: Run, running: list[Run]) -> bool:
    team = run.check_order.lane.profile.team_id
    there = [
        each for each in running
        if run.host_name and (each.host_name, each.check_order.lane.profile.team_id) == (run.host_name, team)
    ]  # fmt: skip
    return len(running) >= IN_A_ZONE or len(there) >= ON_A_HOST


def _ours(run: Run) -> QuerySet[Run]:
    return Run.objects.filter(pk=run.pk, state=Run.State.RUNNING, attempts=run.attempts)
