"""One lane of a profile: its ladder, facts and history, and what people do to its checks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from panel import access, history, maintenance
from panel.access import Membership, Role
from panel.actions import Refused, bundles, checks
from panel.forms.endpoints import calls_under
from panel.views.shell import LIVE_SECONDS, RUNNING_SECONDS, Request, is_live, mark_of, page, still_seen

RANGES = tuple(history.RANGES)


@login_required
@require_safe
def profile(request: Request, team: str, code: str) -> HttpResponse:
    """Show one lane of a profile: ladder, facts, history; the ladder refreshes itself."""
    member, now = access.member_of(request.user, team), timezone.now()
    if still_seen(request, member, now, code):
        return HttpResponse(status=204)
    row = access.profile_for(member, code)
    lane, reach = _lane(request, row), request.GET.get("range", "")
    at, before = (_moment(request.GET.get(name, "")) for name in ("at", "before"))
    zone = timezone.get_current_timezone()
    reach = reach if reach in RANGES else RANGES[0]
    view = history.lane_page(row, lane.kind, reach, now, zone=zone, at=at, before=before)
    return page(
        request,
        "profiles/_live.html" if request.htmx else "profiles/profile.html",
        member,
        "profiles",
        now=now,
        profile=row,
        view=view,
        between=bundles.problems_of(actor=member, profile=row),
        ranges=RANGES,
        sweep=view.sweep,
        seen=mark_of(view.word, now),
        live=is_live(request),
        live_seconds=RUNNING_SECONDS if view.now.running else LIVE_SECONDS,
        planned=maintenance.planned_for(row, now) if view.now.state == "maintenance" else [],
        **lane_facts(lane),
    )


@login_required
@require_POST
def run_now(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Run the ladder of one lane, or of all, now."""
    member = access.member_of(request.user, team, Role.ENGINEER)
    row = access.profile_for(member, code)
    kinds = [kind for kind in request.POST.getlist("lane") if kind in history.KINDS]
    try:
        if not checks.run_now(actor=member, profile=row, kinds=kinds):
            messages.info(request, _("A run is under way already."))
    except Refused as refused:
        messages.error(request, str(refused.sentence))
    return _back(member, code, kinds[0] if kinds else history.KINDS[0])


def lane_facts(lane: Any) -> dict[str, Any]:
    """Return what stands in the column of facts: the endpoint with its key, and what clients call there."""
    if lane.effective_endpoint is None:
        return {"lane": lane, "endpoint": None, "key": None, "calls": calls_under("")}
    endpoint = lane.effective_endpoint
    return {
        "lane": lane,
        "endpoint": endpoint,
        "key": endpoint.key_versions.filter(state="active").first(),
        "calls": calls_under(endpoint.base_url, endpoint.kind),
    }


def _lane(request: HttpRequest, profile: Any) -> Any:
    """Return the lane that the address names, else the first in use."""
    lanes = sorted(profile.lanes.all(), key=lambda lane: history.KINDS.index(lane.kind))
    named = [lane for lane in lanes if lane.kind == request.GET.get("lane")]
    return (named or [lane for lane in lanes if lane.in_use] or lanes)[0]


def _moment(text: str) -> datetime | None:
    """Read a time out of the address; what is none is as if it were not there."""
    try:
        found = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        return None
    return found if found.tzinfo and 2000 <= found.year < 2100 else None


def _back(member: Membership, code: str, kind: str) -> HttpResponse:
    return redirect(f"{reverse('profile', args=[member.team.slug, code])}?lane={kind}")
