"""GPU hosts: what they are, what was read of them, who may log in to them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from panel import access, history
from panel.access import Role
from panel.actions import Refused
from panel.actions import hosts as deeds
from panel.forms.hosts import HostForm, HostKeyForm, initial_of
from panel.views.shell import (
    LIVE_SECONDS,
    RUNNING_SECONDS,
    Request,
    is_live,
    page,
    posted,
    refusals_into,
    tell,
)

FORM_METHODS = ["GET", "HEAD", "POST"]


@login_required
@require_safe
def hosts(request: HttpRequest, team: str) -> HttpResponse:
    """List the team's hosts, the worst first."""
    member, now = access.member_of(request.user, team), timezone.now()
    return page(
        request, "hosts/list.html", member, "hosts", now=now, rows=history.hosts_page(member.team, now)
    )


@login_required
@require_safe
def host(request: Request, team: str, code: str) -> HttpResponse:
    """Show one host: what is true of it, its keys, its facts; it refreshes itself."""
    member, now = access.member_of(request.user, team), timezone.now()
    row = access.host_for(member, code)
    view = history.host_page(row, now)
    busy = any(reading.state in ("queued", "running") for reading in view.readings[:1])
    return page(
        request,
        "hosts/_live.html" if request.htmx else "hosts/host.html",
        member,
        "hosts",
        now=now,
        host=row,
        view=view,
        busy=busy,
        live=is_live(request),
        live_seconds=RUNNING_SECONDS if busy or not view.accepted_fingerprint else LIVE_SECONDS,
    )


@login_required
@require_http_methods(FORM_METHODS)
def host_new(request: HttpRequest, team: str) -> HttpResponse:
    """Describe a host; its key is the next step."""
    member = access.member_of(request.user, team, Role.LEAD)
    form = HostForm(posted(request), hosts=access.hosts_of(member))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            row = deeds.create(actor=member, draft=form.draft())
            tell(request, _("Host %(name)s is saved. Next: the key that logs in.") % {"name": row.name})
            return redirect("host_key", member.team.slug, row.code)
    return page(request, "hosts/form.html", member, "hosts", form=form)


@login_required
@require_http_methods(FORM_METHODS)
def host_edit(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Change a host; another address, port or user forgets the host key, and the page says so."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.host_for(member, code)
    others = access.hosts_of(member).exclude(pk=row.pk)
    form = HostForm(posted(request), initial=initial_of(row), hosts=others)
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            forgotten = deeds.change(actor=member, host=row, draft=form.draft())
            tell(request, _("Host %(name)s is saved.") % {"name": row.name})
            if forgotten:
                messages.warning(
                    request, _("It is another machine or user now, so the accepted host key was forgotten.")
                )
            return redirect("host", member.team.slug, row.code)
    return page(request, "hosts/form.html", member, "hosts", form=form, host=row)


@login_required
@require_http_methods(FORM_METHODS)
def host_delete(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Delete a host that no profile uses, once its name was typed."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.host_for(member, code)
    name, typed = row.name, request.POST.get("name", "")
    wrong = request.method == "POST" and typed != name
    if request.method == "POST" and not wrong:
        try:
            deeds.delete(actor=member, host=row)
        except Refused as refused:
            messages.error(request, str(refused.sentence))
            return redirect("host", member.team.slug, code)
        tell(request, _("%(name)s is deleted.") % {"name": name})
        return redirect("hosts", member.team.slug)
    return page(request, "hosts/delete.html", member, "hosts", host=row, wrong=wrong, typed=typed)


@login_required
@sensitive_post_parameters("private", "passphrase")
@require_http_methods(FORM_METHODS)
def host_key(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Have Preflight make a key pair, or seal one that somebody pasted."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.host_for(member, code)
    making = request.POST.get("deed") == "make"
    form = HostKeyForm(None if making else posted(request))
    if request.method == "POST" and (making or form.is_valid()):
        with refusals_into(form):
            if making:
                deeds.make_key(actor=member, host=row)
            else:
                deeds.paste_key(actor=member, host=row, private=form.private_key, passphrase=form.phrase)
            tell(request, _("The key is sealed. Add its public line to the host."))
            return redirect("host", member.team.slug, row.code)
    return page(request, "hosts/key.html", member, "hosts", form=form, host=row)


@login_required
@require_POST
def host_ask(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Ask the machine for its host key."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.host_for(member, code)
    return _done(
        request, row, _("The host key is asked for; it appears here."), deeds.ask_host_key, actor=member
    )


@login_required
@require_POST
def host_accept(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Accept the host key whose fingerprint the lead saw."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.host_for(member, code)
    seen = request.POST.get("fingerprint", "")
    done = _("The host key is accepted.")
    return _done(request, row, done, deeds.accept_host_key, actor=member, fingerprint=seen)


@login_required
@require_POST
def host_forget(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Forget the accepted host key: nobody logs in until a lead accepts one."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.host_for(member, code)
    done = _("The host key is forgotten; nobody logs in until one is accepted.")
    return _done(request, row, done, deeds.forget_host_key, actor=member)


@login_required
@require_POST
def host_read(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Read a host's facts now."""
    member = access.member_of(request.user, team, Role.ENGINEER)
    row = access.host_for(member, code)
    return _done(request, row, _("The facts are read now."), deeds.read_now, actor=member)


@login_required
@require_POST
def host_pause(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Stop the scheduled readings of a host, or let them go on."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.host_for(member, code)
    if request.POST.get("deed") == "resume":
        return _done(request, row, _("Readings go on."), deeds.resume_readings, actor=member)
    return _done(request, row, _("Readings are paused."), deeds.pause_readings, actor=member)


def _done(request: HttpRequest, host: Any, done: str, deed: Any, **said: Any) -> HttpResponse:
    """Do one deed to a host, say how it went, and go back to its page."""
    try:
        deed(host=host, **said)
    except Refused as refused:
        messages.error(request, str(refused.sentence))
    else:
        tell(request, done)
    return redirect("host", said["actor"].team.slug, host.code)
