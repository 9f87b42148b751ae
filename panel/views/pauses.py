"""Checks that rest: paused by a person, or in maintenance."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from panel import access
from panel import maintenance as planned
from panel.access import Membership, Role
from panel.actions import checks
from panel.actions import maintenance as deeds
from panel.forms.pauses import EVERY_LANE, MaintenanceForm, PauseForm
from panel.views.shell import page, posted, refusals_into, tell


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def lane_pause(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Stop the scheduled runs of one lane or of all, with a reason; or let one go on."""
    member = access.member_of(request.user, team, Role.LEAD)
    if request.POST.get("deed") == "resume":
        return _resume(request, member, code)
    profile = access.profile_for(member, code)
    initial = {"lane": request.GET.get("lane", EVERY_LANE)}
    form = PauseForm(posted(request), initial=initial, lanes=list(profile.lanes.all()))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            lanes, said = form.chosen(), form.cleaned_data
            for lane in lanes:
                checks.pause(actor=member, lane=lane, reason=said["reason"], until=said["until"])
            words = ngettext(
                "Scheduled checks of %(n)d lane are paused.",
                "Scheduled checks of %(n)d lanes are paused.",
                len(lanes),
            )
            tell(request, words % {"n": len(lanes)})
            return redirect("profile", member.team.slug, code)
    return page(request, "pauses/pause.html", member, "profiles", profile=profile, form=form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def maintenance(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Show what is planned that touches a profile; a lead plans more, or ends it."""
    lowest = Role.LEAD if request.method == "POST" else Role.VIEWER
    member, now = access.member_of(request.user, team, lowest), timezone.now()
    profile = access.profile_for(member, code)
    if request.POST.get("deed") == "end":
        deeds.end(actor=member, row=access.maintenance_for(member, request.POST.get("maintenance", "")))
        tell(request, _("The maintenance is ended."))
        return redirect("maintenance", member.team.slug, code)
    form = MaintenanceForm(posted(request), initial=_initial(request), profile=profile)
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            deeds.plan(actor=member, draft=form.draft())
            tell(request, _("The maintenance is planned."))
            return redirect("maintenance", member.team.slug, code)
    return page(
        request, "pauses/maintenance.html", member, "profiles", now=now, profile=profile, form=form,
        planned=planned.planned_for(profile, now),
    )  # fmt: skip


def _initial(request: HttpRequest) -> dict[str, str]:
    return {"scope": request.GET.get("lane", "profile"), "zone": timezone.get_current_timezone_name()}


def _resume(request: HttpRequest, member: Membership, code: str) -> HttpResponse:
    lane = access.lane_for(member, code, request.POST.get("lane", ""))
    checks.resume(actor=member, lane=lane)
    tell(request, _("Scheduled checks of this lane go on."))
    return redirect(f"{reverse('profile', args=[member.team.slug, code])}?lane={lane.kind}")
