"""Incidents: what broke, who has it, and what people say and do about it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from panel import access, history
from panel.access import Membership, Role
from panel.actions import Refused
from panel.actions import incidents as deeds
from panel.forms.incidents import HandOverForm, MuteForm, NoteForm
from panel.views.shell import LIVE_SECONDS, Request, is_live, page, refusals_into, tell

SHOWN = ("all", "open", "closed")


@login_required
@require_safe
def incidents(request: HttpRequest, team: str) -> HttpResponse:
    """List the incidents by cause, the open ones first."""
    member, now = access.member_of(request.user, team), timezone.now()
    asked, who, number = (request.GET.get(name, "") for name in ("state", "who", "page"))
    shown = asked if asked in SHOWN else "all"
    view = history.incidents_page(
        member.team,
        now,
        shown=shown,
        whose=member.user if who == "me" else None,
        untaken=who == "nobody",
        page=int(number) if number.isdecimal() and len(number) < 6 else 1,
    )
    return page(
        request, "incidents/list.html", member, "incidents", now=now, view=view, shown=shown, who=who,
        filtered=shown != "all" or who in ("me", "nobody"),
    )  # fmt: skip


@login_required
@require_safe
def incident(request: Request, team: str, code: str) -> HttpResponse:
    """Show one incident; it refreshes itself while it is open."""
    member = access.member_of(request.user, team)
    return _shown(request, member, code, NoteForm())


@login_required
@require_POST
def incident_note(request: Request, team: str, code: str) -> HttpResponse:
    """Write a note on the timeline; one that is refused is shown again with its text."""
    member = access.member_of(request.user, team, Role.ENGINEER)
    row, form = access.incident_for(member, code), NoteForm(request.POST)
    if form.is_valid():
        with refusals_into(form):
            deeds.note(actor=member, incident=row, text=form.cleaned_data["text"])
            tell(request, _("The note is on the timeline."))
            return redirect("incident", member.team.slug, code)
    return _shown(request, member, code, form)


@login_required
@require_POST
def incident_take(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Take the incident."""
    member = access.member_of(request.user, team, Role.ENGINEER)
    row = access.incident_for(member, code)
    return _done(request, member, code, _("You have it."), lambda: deeds.take(actor=member, incident=row))


@login_required
@require_POST
def incident_hand(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Give the incident to a colleague."""
    member = access.member_of(request.user, team, Role.ENGINEER)
    row, form = access.incident_for(member, code), HandOverForm(request.POST, takers=access.takers_of(member))
    if not form.is_valid():
        return _sent_back(request, member, code, form)
    to = form.cleaned_data["to"]
    done = _("%(name)s has it.") % {"name": to.user}
    return _done(request, member, code, done, lambda: deeds.hand_over(actor=member, incident=row, to=to))


@login_required
@require_POST
def incident_mute(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Tell nobody of the incident for some hours, or have people notified again."""
    member = access.member_of(request.user, team, Role.ENGINEER)
    row, form = access.incident_for(member, code), MuteForm(request.POST)
    if request.POST.get("deed") == "unmute":
        done = _("People are notified of the incident again.")
        return _done(request, member, code, done, lambda: deeds.unmute(actor=member, incident=row))
    if not form.is_valid():
        return _sent_back(request, member, code, form)
    until = timezone.now() + timedelta(hours=form.cleaned_data["hours"])
    done = _("The incident is muted.")
    return _done(request, member, code, done, lambda: deeds.mute(actor=member, incident=row, until=until))


def _shown(request: Request, member: Membership, code: str, note: NoteForm) -> HttpResponse:
    row, now = access.incident_for(member, code), timezone.now()
    view = history.incident_page(row, now)
    return page(
        request,
        "incidents/_live.html" if request.htmx else "incidents/incident.html",
        member,
        "incidents",
        now=now,
        view=view,
        note=note,
        hand=HandOverForm(takers=access.takers_of(member)),
        mute=MuteForm(),
        muted=view.row.muted_until is not None and view.row.muted_until > now,
        live=is_live(request) and view.row.closed_at is None,
        live_seconds=LIVE_SECONDS,
    )


def _done(
    request: HttpRequest, member: Membership, code: str, done: str, deed: Callable[[], None]
) -> HttpResponse:
    """Do one deed, say how it went, and go back to the incident's page."""
    try:
        deed()
    except Refused as refused:
        messages.error(request, str(refused.sentence))
    else:
        tell(request, done)
    return redirect("incident", member.team.slug, code)


def _sent_back(request: HttpRequest, member: Membership, code: str, form: forms.Form) -> HttpResponse:
    """A choice that the page did not offer: say so, and show the page again."""
    for errors in form.errors.values():
        messages.error(request, " ".join(str(error) for error in errors))
    return redirect("incident", member.team.slug, code)
