"""The first page of a team: is anything wrong, and what to do."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from panel import access, history
from panel.views.shell import LIVE_SECONDS, Request, is_live, mark_of, page, still_seen

KEYS_SHOWN = 3
CHANGES_SHOWN = 3


@login_required
@require_safe
def overview(request: Request, team: str) -> HttpResponse:
    """Show the team's lanes; a poll of the live part is answered with 204 while nothing changed."""
    member, now = access.member_of(request.user, team), timezone.now()
    if still_seen(request, member, now):
        return HttpResponse(status=204)
    view = history.overview(member.team, now)
    wanted = request.GET.get("state", "")
    return page(
        request,
        "overview/_live.html" if request.htmx else "overview/overview.html",
        member,
        "overview",
        now=now,
        view=view,
        rows=[row for row in view.rows if not wanted or has_state(row, wanted)],
        wanted=wanted,
        sweep=view.sweep,
        seen=mark_of(view.word, now),
        incidents_open=view.incidents_open,
        live=is_live(request),
        live_seconds=LIVE_SECONDS,
        hosts=history.hosts_page(member.team, now),
        keys_due=access.keys_due(member, now)[:KEYS_SHOWN],
        changes=access.activity_of(member)[:CHANGES_SHOWN],
    )


def has_state(row: history.BoardRow, state: str) -> bool:
    """Tell whether a lane in use of this profile is in this state."""
    return any(cell.now.in_use and cell.now.state == state for cell in row.cells)
