"""What a climb may still spend: the lane's and the endpoint's caps against their day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date

from django.db.models import Q

from panel.models import Endpoint, Lane, Run


class Purses:
    """What lanes and endpoints spent in their UTC day, against what they may."""

    def __init__(self, lanes: Iterable[Lane]) -> None:
        capped = {
            endpoint.pk
            for lane in lanes
            if (endpoint := lane.effective_endpoint) is not None and endpoint.tokens_a_day is not None
        }
        inherited = Q(endpoint=None, profile__endpoint__in=capped)
        sharing = Lane.objects.filter(Q(endpoint__in=capped) | inherited, now__tokens_spent__gt=0)
        self._spent: defaultdict[tuple[int | None, date | None], int] = defaultdict(int)
        for lane in sharing.select_related("now", "profile"):
            where = lane.endpoint_id or lane.profile.endpoint_id
            self._spent[where, lane.now.tokens_day] += lane.now.tokens_spent

    def left(self, run: Run, lane: Lane, endpoint: Endpoint) -> int:
        """Return what the lane may still spend on the UTC day on which the run started.

        Runs of one batch do not see each other's spending: a cap can be passed by one batch's worth.
        """
        today = run.started_at and run.started_at.date()
        spent = lane.now.tokens_spent if lane.now.tokens_day == today else 0
        left = run.check_order.tokens_a_day - spent
        if endpoint.tokens_a_day is not None:
            left = min(left, endpoint.tokens_a_day - self._spent[endpoint.pk, today])
        return max(0, left)
