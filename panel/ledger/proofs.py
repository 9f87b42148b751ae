"""A key is proved by a run that passed with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from panel.models import KeyVersion, Lane, Run

# A proof as fresh as this is not written anew: a lane that passes each minute would prove each minute.
FRESH = timedelta(hours=1)


def prove_keys(runs: Iterable[Run]) -> None:
    """Note on the keys with which these closed runs passed that they were proved: one small query where all
    proofs are fresh, else two."""
    lanes: defaultdict[int, list[int]] = defaultdict(list)
    newest = None
    for run in runs:
        if run.key_number is not None and run.status in ("ok", "degraded") and run.finished_at is not None:
            lanes[run.key_number].append(run.check_order.lane_id)
            newest = max(newest or run.finished_at, run.finished_at)
    if newest is None:
        return
    stale = Q(proved_at=None) | Q(proved_at__lt=newest - FRESH)
    due = KeyVersion.objects.filter(stale, state=KeyVersion.State.ACTIVE, number__in=list(lanes))
    if not due.exists():
        return
    used = Q()
    for number, ids in lanes.items():  # the number too: the key may have been replaced while the run went on
        used |= Q(number=number, endpoint__in=_endpoints(ids))
    due.filter(used).update(proved_at=newest)


def _endpoints(lanes: list[int]) -> QuerySet[Lane, int]:
    """Return the endpoints that the lanes use, their own or the profile's."""
    rows = Lane.objects.filter(pk__in=lanes).annotate(used=Coalesce("endpoint", "profile__endpoint"))
    return rows.values_list("used", flat=True)
