"""Endpoints and their keys."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from panel import access
from panel.access import Role
from panel.actions import Refused
from panel.actions import endpoints as deeds
from panel.forms.endpoints import EndpointForm, KeyForm, NewEndpointForm, calls_under, initial_of
from panel.views.shell import page, posted, refusals_into, tell

FORM_METHODS = ["GET", "HEAD", "POST"]


@login_required
@require_safe
def endpoints(request: HttpRequest, team: str) -> HttpResponse:
    """List the team's endpoints."""
    member = access.member_of(request.user, team)
    return page(request, "endpoints/list.html", member, "endpoints", endpoints=access.endpoints_of(member))


@login_required
@require_safe
def endpoint(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Show one endpoint: what is called there, its keys, who uses it."""
    member = access.member_of(request.user, team)
    row = access.endpoint_for(member, code)
    using = [profile for profile in access.profiles_of(member) if _uses(profile, row.pk)]
    return page(
        request, "endpoints/endpoint.html", member, "endpoints", endpoint=row, using=using,
        calls=calls_under(row.base_url, row.kind),
    )  # fmt: skip


@login_required
@sensitive_post_parameters("key")
@require_http_methods(FORM_METHODS)
def endpoint_new(request: HttpRequest, team: str) -> HttpResponse:
    """Add an endpoint, with its key when there is one."""
    member = access.member_of(request.user, team, Role.LEAD)
    form = NewEndpointForm(posted(request))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            row = deeds.create(actor=member, **form.said())
            tell(request, _("Endpoint %(name)s is saved.") % {"name": row.name}, form.edits())
            return redirect("endpoint", member.team.slug, row.code)
    return page(request, "endpoints/form.html", member, "endpoints", form=form, calls=form.calls())


@login_required
@require_http_methods(FORM_METHODS)
def endpoint_edit(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Change an endpoint; another origin drops the key, and the page says so before and after."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.endpoint_for(member, code)
    form = EndpointForm(posted(request), initial=initial_of(row))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            dropped = deeds.change(actor=member, endpoint=row, **form.said())
            tell(request, _("Endpoint %(name)s is saved.") % {"name": row.name}, form.edits())
            if not dropped:
                return redirect("endpoint", member.team.slug, row.code)
            messages.warning(request, _("The address is another one, so the key was dropped. Paste its key."))
            return redirect("key_add", member.team.slug, row.code)
    return page(
        request, "endpoints/form.html", member, "endpoints", form=form, endpoint=row, calls=form.calls()
    )


@login_required
@require_POST
def base_url_apply(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Store the base URL that a run found to answer."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.endpoint_for(member, code)
    run = access.run_for(member, request.POST.get("run", ""))
    try:
        dropped = deeds.apply_offered(actor=member, endpoint=row, run=run)
    except Refused as refused:
        messages.error(request, str(refused.sentence))
    else:
        tell(request, _("%(name)s is called at %(url)s now.") % {"name": row.name, "url": row.base_url})
        if dropped:
            messages.warning(request, _("The address is another one, so the key was dropped. Paste its key."))
            return redirect("key_add", member.team.slug, row.code)
    lane = run.check_order.lane
    return redirect(f"{reverse('profile', args=[member.team.slug, lane.profile.code])}?lane={lane.kind}")


@login_required
@require_POST
def balance_ask(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Ask what is left on the endpoint's key."""
    member = access.member_of(request.user, team, Role.ENGINEER)
    row = access.endpoint_for(member, code)
    try:
        deeds.ask_balance(actor=member, endpoint=row)
    except Refused as refused:
        messages.error(request, str(refused.sentence))
    else:
        tell(request, _("The balance of %(name)s is asked for.") % {"name": row.name})
    return redirect("endpoint", member.team.slug, code)


@login_required
@require_http_methods(FORM_METHODS)
def endpoint_delete(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Delete an endpoint that no profile uses, once its name was typed."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.endpoint_for(member, code)
    name, typed = row.name, request.POST.get("name", "")
    if request.method == "POST" and typed == name:
        try:
            deeds.delete(actor=member, endpoint=row)
        except Refused as refused:
            messages.error(request, str(refused.sentence))
            return redirect("endpoint", member.team.slug, code)
        tell(request, _("%(name)s is deleted.") % {"name": name})
        return redirect("endpoints", member.team.slug)
    wrong = request.method == "POST"
    return page(request, "endpoints/delete.html", member, "endpoints", endpoint=row, wrong=wrong, typed=typed)


@login_required
@sensitive_post_parameters("key")
@require_http_methods(FORM_METHODS)
def key_add(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Seal a key for an endpoint; the lanes that use it are checked at once."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.endpoint_for(member, code)
    form = KeyForm(posted(request))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            said = form.cleaned_data
            key = deeds.add_key(
                actor=member, endpoint=row, key=said["key"].value, expires_at=said["expires_at"]
            )
            tell(request, _("v%(n)d is sealed; its lanes are checked now.") % {"n": key.number}, form.edits())
            return redirect("endpoint", member.team.slug, row.code)
    return page(request, "keys/add.html", member, "keys", form=form, endpoint=row)


@login_required
@require_http_methods(FORM_METHODS)
def key_destroy(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Destroy the key in use, once the endpoint's name was typed."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.endpoint_for(member, code)
    typed = request.POST.get("name", "")
    if request.method == "POST" and typed == row.name:
        try:
            deeds.destroy_key(actor=member, endpoint=row)
        except Refused as refused:
            messages.error(request, str(refused.sentence))
        else:
            tell(request, _("The key of %(name)s is destroyed.") % {"name": row.name})
        return redirect("endpoint", member.team.slug, code)
    wrong = request.method == "POST"
    return page(request, "keys/destroy.html", member, "keys", endpoint=row, wrong=wrong, typed=typed)


@login_required
@require_safe
def keys(request: HttpRequest, team: str) -> HttpResponse:
    """List the team's keys: what is in use, and what once was."""
    member = access.member_of(request.user, team)
    return page(request, "keys/list.html", member, "keys", keys=access.keys_of(member))


@login_required
@require_POST
def calls(request: HttpRequest, team: str) -> HttpResponse:
    """Answer with the join preview of what is typed; by POST, since addresses end up in logs."""
    access.member_of(request.user, team, Role.LEAD)
    calls = calls_under(request.POST.get("base_url", ""), request.POST.get("kind", ""))
    return render(request, "endpoints/_calls.html", {"calls": calls})


def _uses(profile: object, endpoint_id: int) -> bool:
    named = [profile, *profile.lanes.all()]  # type: ignore[attr-defined]
    return any(one.endpoint_id == endpoint_id for one in named)
