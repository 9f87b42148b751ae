"""A team's own pages: what was done in it, and what holds for it."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from panel import access
from panel.access import Role
from panel.actions import teams as deeds
from panel.forms.people import RetentionForm, TeamForm
from panel.views.shell import page, posted, tell

A_PAGE = 50


@login_required
@require_safe
def activity(request: HttpRequest, team: str) -> HttpResponse:
    """List what people did, newest first."""
    member = access.member_of(request.user, team)
    noun, actor = request.GET.get("noun", ""), request.GET.get("who", "")
    events = access.activity_of(member, noun=noun, actor=actor)
    shown = Paginator(events, A_PAGE).get_page(request.GET.get("page"))
    return page(
        request, "activity/list.html", member, "activity", shown=shown, noun=noun, who=actor,
        members=access.members_of(member),
    )  # fmt: skip


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team_settings(request: HttpRequest, team: str) -> HttpResponse:
    """Show what holds for the team and what the operator of this instance allows; an owner renames it,
    and says for how long its past is kept."""
    writes = request.method == "POST"
    member = access.member_of(request.user, team, Role.OWNER if writes else Role.VIEWER)
    keeps = "runs_days" in request.POST
    form = TeamForm(None if keeps else posted(request), initial={"name": member.team.name})
    kept = {"runs_days": member.team.runs_days, "hours_days": member.team.hours_days}
    retention = RetentionForm(posted(request) if keeps else None, initial=kept)
    asked = retention if keeps else form
    if writes and asked.is_valid():
        (deeds.keep if keeps else deeds.rename)(actor=member, **asked.cleaned_data)
        tell(request, _("Saved."))
        return redirect("settings", member.team.slug)
    allowed = [str(network) for network in settings.EGRESS_ALLOWED]
    return page(
        request,
        "settings/team.html",
        member,
        "settings",
        form=form,
        retention=retention,
        allowed=allowed,
        may_own=member.may(Role.OWNER),
    )
