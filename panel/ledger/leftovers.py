"""What a dry run may leave elsewhere: noted before it starts, tidied up when its worker died.

A run that closes by itself has tidied up and takes its note with it. The sweep looks for the others, and
tries again, later each time, for a day; what is left then is said as unsettled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from checks import Status, Step
from panel.ledger.steps import to_json
from panel.models import Leftover, Run, RunSteps

DRY = 4
"""The lowest rung that starts something of the team's elsewhere."""
TRIED_FOR = timedelta(days=1)
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
AT_ONCE = 20
# A rung that ended so left nothing to do: what it says needs no further try.
DONE = (Status.OK, Status.DEGRADED)


def note_leftover(run: Run, now: datetime) -> None:
    """Write down that this run may leave something, before it starts."""
    Leftover.objects.update_or_create(
        run=run, defaults={"made_at": now, "tries": 0, "next_try_at": None, "settled_at": None, "said": {}}
    )


def leave_to_the_sweep(runs: Iterable[Run], now: datetime) -> None:
    """Have what these runs left tidied up from now on."""
    Leftover.objects.filter(run__in=[run.pk for run in runs], settled_at=None).update(next_try_at=now)


def forget_leftovers(runs: Iterable[Run]) -> None:
    """These runs closed by themselves. No query where none of them was a dry run."""
    dry = [run.pk for run in runs if run.top_rung >= DRY]
    if dry:
        Leftover.objects.filter(run__in=dry).delete()


def claim_leftovers(now: datetime) -> list[Run]:
    """Return the runs whose leftovers are due, each with the time of its next try written already."""
    with transaction.atomic():
        due = list(
            Leftover.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("run")
            .filter(next_try_at__lte=now)
            .order_by("next_try_at")[:AT_ONCE]
        )
        for each in due:
            each.tries += 1
            each.next_try_at = now + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(each.tries - 1, 10))
        if due:
            Leftover.objects.bulk_update(due, ["tries", "next_try_at"])
    return [each.run for each in due]


def settle_leftover(run_id: int, steps: Sequence[Step], now: datetime) -> bool:
    """Write what tidying up said; tell whether it is settled.

    `steps` are `checks.clean_up`'s. They join the steps that the run told itself once nothing is left, or
    once a day of trying has passed.
    """
    with transaction.atomic():
        left = Leftover.objects.select_for_update().filter(run=run_id, settled_at=None).first()
        if left is None:
            return True
        settled = all(step.status in DONE or step.reason is None for step in steps)
        given_up = not settled and now - left.made_at >= TRIED_FOR
        left.said = {"steps": to_json(steps), "unsettled": given_up}
        if settled or given_up:
            left.next_try_at, left.settled_at = None, now if settled else None
            _append(run_id, steps)
        left.save()
    return settled


def _append(run_id: int, steps: Sequence[Step]) -> None:
    kept = RunSteps.objects.select_for_update().filter(run=run_id).first() or RunSteps(
        run_id=run_id, steps=[]
    )
    kept.steps = [*kept.steps, *to_json(steps)]
    kept.save()
