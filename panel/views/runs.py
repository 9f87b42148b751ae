"""One run, as evidence to link to."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from panel import access, history
from panel.views.lanes import lane_facts
from panel.views.shell import RUNNING_SECONDS, Request, page


@login_required
@require_safe
def run(request: Request, team: str, code: str) -> HttpResponse:
    """Show one climb with all its rungs opened; while it is under way the page refreshes itself."""
    member, now = access.member_of(request.user, team), timezone.now()
    row = access.run_for(member, code)
    view = history.run_view(row)
    if request.GET.get("as") == "text":
        return render(request, "runs/plain.txt", {"run": view}, content_type="text/plain; charset=utf-8")
    return page(
        request,
        "runs/_live.html" if request.htmx else "runs/run.html",
        member,
        "profiles",
        now=now,
        run=view,
        under_way=view.state in ("queued", "running"),
        live_seconds=RUNNING_SECONDS,
        profile=row.check_order.lane.profile,
        **lane_facts(member, row.check_order.lane),
    )
