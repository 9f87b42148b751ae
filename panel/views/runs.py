"""One run, as evidence to link to."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from panel import access, history
from panel.views.lanes import lane_facts
from panel.views.shell import OUTPUT_SECONDS, RUNNING_SECONDS, Request, is_live, page

LAST_RUNG = 5


@login_required
@require_safe
def run(request: Request, team: str, code: str) -> HttpResponse:
    """Show one climb with all its rungs opened; while it is under way the page refreshes itself."""
    member, now = access.member_of(request.user, team), timezone.now()
    row = access.run_for(member, code)
    view = history.run_view(row)
    if request.GET.get("as") == "text":
        return render(request, "runs/plain.txt", {"run": view}, content_type="text/plain; charset=utf-8")
    under_way = view.state in ("queued", "running")
    pieces = () if request.htmx else history.run_output(row)
    return page(
        request,
        "runs/_live.html" if request.htmx else "runs/run.html",
        member,
        "profiles",
        now=now,
        run=view,
        under_way=under_way,
        live=is_live(request),
        pieces=pieces,
        last=pieces[-1].number if pieces else 0,
        polled=under_way and is_live(request),
        awaited=under_way and view.top_rung == LAST_RUNG and bool(view.host_name),
        output_seconds=OUTPUT_SECONDS,
        live_seconds=RUNNING_SECONDS,
        profile=row.check_order.lane.profile,
        **lane_facts(row.check_order.lane),
    )
