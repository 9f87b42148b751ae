"""Dry runs: what one costs before it starts, and what its command prints while it runs."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from panel import access, history
from panel.access import Role
from panel.actions import Refused, recipes
from panel.views.shell import OUTPUT_SECONDS, Request, page

TOPS = (3, 4, 5)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dry_run(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Say what a dry run of one lane does and costs, and start it."""
    member = access.member_of(request.user, team, Role.ENGINEER)
    profile = access.profile_for(member, code)
    said = request.POST if request.method == "POST" else request.GET
    lanes = [lane for lane in profile.lanes.all() if lane.in_use]
    lane = next((lane for lane in lanes if lane.kind == said.get("lane")), lanes[0] if lanes else None)
    top = int(said.get("top", "5")) if said.get("top", "5") in ("3", "4", "5") else TOPS[-1]
    if request.method == "POST" and lane is not None:
        try:
            run = recipes.dry_run(actor=member, profile=profile, kind=lane.kind, top_rung=top)
        except Refused as refused:
            messages.error(request, str(refused.sentence))
        else:
            return redirect("run", member.team.slug, run.code)
    costs = (
        [(rung, recipes.estimate(profile=profile, kind=lane.kind, top_rung=rung)) for rung in TOPS]
        if lane
        else []
    )
    return page(
        request, "dry_runs/start.html", member, "profiles", profile=profile, lanes=lanes, lane=lane, top=top,
        costs=costs, recipe=access.recipe_for(member, code),
    )  # fmt: skip


@login_required
@require_safe
def run_output(request: Request, team: str, code: str) -> HttpResponse:
    """Answer with what a run's command printed after a piece, and the place where the rest will stand.

    Without htmx the whole is answered as plain text.
    """
    row = access.run_for(access.member_of(request.user, team), code)
    after = request.GET.get("after", "")
    pieces = history.run_output(row, int(after) if after.isdecimal() and len(after) < 10 else 0)
    if not request.htmx:
        text = "".join(piece.text for piece in pieces)
        return HttpResponse(text, content_type="text/plain; charset=utf-8")
    under_way = row.state in ("queued", "running")
    if under_way and not pieces:
        return HttpResponse(status=204)
    context = {
        "run": row,
        "pieces": pieces,
        "last": pieces[-1].number if pieces else after,
        "under_way": under_way,
        "team": row.check_order.lane.profile.team,
        "output_seconds": OUTPUT_SECONDS,
    }
    return render(request, "dry_runs/_pieces.html", context)
