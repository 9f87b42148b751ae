"""How a profile is run on its host."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from panel import access
from panel.access import Role
from panel.actions import recipes as deeds
from panel.forms.recipes import RecipeForm, initial_of
from panel.views.shell import page, posted, refusals_into, tell


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def recipe(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Say from where a profile is climbed, and what is run on its host."""
    member = access.member_of(request.user, team, Role.LEAD)
    profile, row = access.profile_for(member, code), access.recipe_for(member, code)
    form = RecipeForm(posted(request), initial=initial_of(row), hosts=access.hosts_of(member))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            row = deeds.save(actor=member, profile=profile, draft=form.draft())
            tell(request, _("The recipe of %(name)s is saved.") % {"name": profile.name})
            return redirect("recipe", member.team.slug, code)
    return page(request, "recipes/form.html", member, "profiles", profile=profile, form=form, recipe=row)
