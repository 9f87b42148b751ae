"""Pages outside any team: the first run, invitations, the choice of a team, one's own settings."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from panel import access
from panel.actions import people, teams
from panel.forms.people import AcceptForm, JoinForm, MeForm, SetUpForm, TeamForm
from panel.views.shell import posted, refusals_into, tell

FORM_METHODS = ["GET", "HEAD", "POST"]
BACKEND = "django.contrib.auth.backends.ModelBackend"
A_YEAR = 365 * 24 * 3600


@login_required
@require_http_methods(FORM_METHODS)
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the only team; with several, or when asked, show the choice and make a further one."""
    user = access.somebody(request.user)
    mine = list(access.memberships_of(user))
    if request.method != "POST" and len(mine) == 1 and "choose" not in request.GET:
        return redirect("overview", mine[0].team.slug)
    form = TeamForm(posted(request))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            member = teams.create(user=user, name=form.cleaned_data["name"])
            return redirect("overview", member.team.slug)
    return render(request, "entrance/home.html", {"memberships": mine, "form": form})


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(FORM_METHODS)
def setup(request: HttpRequest, token: str) -> HttpResponse:
    """Make the first owner and the first team, by the link that `up` printed."""
    invitation = teams.invitation(token)
    if invitation is None or invitation.team_id is not None:
        return render(request, "entrance/link_ended.html", status=404)
    form = SetUpForm(posted(request))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            member = teams.set_up(token=token, **form.cleaned_data)
            login(request, member.user, backend=BACKEND)
            return redirect("overview", member.team.slug)
    return render(request, "entrance/setup.html", {"form": form})


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(FORM_METHODS)
def invite(request: HttpRequest, token: str) -> HttpResponse:
    """Join a team by a one-time link: as who is signed in, else with a new account."""
    invitation = teams.invitation(token)
    if invitation is None or invitation.team_id is None:
        return render(request, "entrance/link_ended.html", status=404)
    signed_in = request.user if request.user.is_authenticated else None
    form = JoinForm(posted(request)) if signed_in else AcceptForm(posted(request))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            member = teams.accept(token=token, user=signed_in, **form.cleaned_data)
            if signed_in is None:
                login(request, member.user, backend=BACKEND)
            return redirect("overview", member.team.slug)
    return render(request, "entrance/invite.html", {"form": form, "invitation": invitation})


@login_required
@require_http_methods(FORM_METHODS)
def me(request: HttpRequest) -> HttpResponse:
    """Change one's own name, language and zone; theme and shortcuts are kept in this browser."""
    user = access.somebody(request.user)
    form = MeForm(posted(request), initial=_mine(request))
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        people.change_me(user=user, name=said["name"], language=said["language"], zone=said["zone"])
        tell(request, _("Saved."))
        response = redirect("me")
        _keep(response, settings.THEME_COOKIE_NAME, said["theme"])
        _keep(response, settings.SHORTCUTS_COOKIE_NAME, "" if said["shortcuts"] else "off")
        return response
    return render(request, "me/me.html", {"form": form, "memberships": access.memberships_of(user)})


def _mine(request: HttpRequest) -> dict[str, Any]:
    user = access.somebody(request.user)
    return {
        "name": user.name,
        "language": user.language,
        "zone": user.zone,
        "theme": request.COOKIES.get(settings.THEME_COOKIE_NAME, ""),
        "shortcuts": request.COOKIES.get(settings.SHORTCUTS_COOKIE_NAME) != "off",
    }


def _keep(response: HttpResponse, cookie: str, value: str) -> None:
    """Keep a choice in this browser, or forget it."""
    if value:
        response.set_cookie(
            cookie, value, max_age=A_YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
        )
    else:
        response.delete_cookie(cookie, samesite="Lax")
