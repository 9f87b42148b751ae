"""Runs of a lane as a list, all or those of one bar. The index on check and slot serves both."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from panel.history.shapes_past import RunList, RunRow
from panel.models import Run

A_PAGE = 25
# A run counts in the bar that it ended in; one that began longer before is not looked for.
LONGEST = timedelta(hours=2)


def runs_of(
    check: int, since: datetime | None = None, until: datetime | None = None, before: datetime | None = None
) -> RunList:
    """Return the newest runs of the check, of those that ended from `since` up to `until` where these are
    given, and whose slots are before `before`: one query."""
    rows = Run.objects.filter(check_order=check)
    if since is not None and until is not None:
        ended = Q(finished_at__gte=since, finished_at__lt=until)
        rows = rows.filter(slot__gte=since - LONGEST, slot__lt=until)
        rows = rows.filter(ended | Q(finished_at=None, slot__gte=since))
    if before is not None:
        rows = rows.filter(slot__lt=before)
    fields = ("code", "slot", "state", "status", "rung", "reason", "latency_ms", "trigger")
    found = [RunRow(*row) for row in rows.order_by("-slot").values_list(*fields)[: A_PAGE + 1]]
    shown = tuple(found[:A_PAGE])
    return RunList(shown, since, until, shown[-1].at if len(found) > A_PAGE else None)
