"""Who is in a team, in which role."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from panel import access
from panel.access import Role
from panel.actions import Refused, teams
from panel.forms.people import MemberForm, RoleForm
from panel.views.shell import page, posted, refusals_into, tell


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def members(request: HttpRequest, team: str) -> HttpResponse:
    """List the members; a POST adds somebody with an account, or makes an invitation, shown once."""
    wanted = Role.LEAD if request.method == "POST" else Role.VIEWER
    member = access.member_of(request.user, team, wanted)
    form = MemberForm(posted(request), highest=member.role)
    link = ""
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            email, role = form.cleaned_data["email"], form.cleaned_data["role"]
            try:
                added = teams.add_member(actor=member, email=email, role=role)
            except teams.NoAccount:
                token = teams.invite(actor=member, email=email, role=role)
                link = request.build_absolute_uri(reverse("invite", args=[token]))
            else:
                tell(request, _("%(name)s is in the team.") % {"name": added.user})
                return redirect("members", member.team.slug)
    team_members = access.members_of(member)
    return page(request, "members/list.html", member, "members", form=form, link=link, members=team_members)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def member_edit(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Give a colleague another role."""
    member = access.member_of(request.user, team, Role.LEAD)
    colleague = access.colleague_for(member, code)
    form = RoleForm(posted(request), highest=member.role, initial={"role": colleague.role})
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            teams.change_role(actor=member, colleague=colleague, role=form.cleaned_data["role"])
            tell(request, _("%(name)s has another role now.") % {"name": colleague.user})
            return redirect("members", member.team.slug)
    return page(request, "members/edit.html", member, "members", colleague=colleague, form=form)


@login_required
@require_POST
def member_remove(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Take a colleague out of the team."""
    member = access.member_of(request.user, team, Role.LEAD)
    colleague = access.colleague_for(member, code)
    try:
        teams.remove(actor=member, colleague=colleague)
    except Refused as refused:
        messages.error(request, str(refused.sentence))
    else:
        tell(request, _("%(name)s is no longer in the team.") % {"name": colleague.user})
    left = colleague.user_id == member.user_id
    return redirect("home") if left else redirect("members", member.team.slug)
