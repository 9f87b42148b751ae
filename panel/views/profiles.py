"""Profiles: find one, describe one."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from panel import access, history
from panel.access import Role
from panel.actions import endpoints
from panel.actions import profiles as deeds
from panel.forms.profiles import ProfileEditor
from panel.views.overview import has_state
from panel.views.shell import page, posted, refusals_into, tell

A_PAGE = 25


@login_required
@require_safe
def profiles(request: HttpRequest, team: str) -> HttpResponse:
    """List the team's profiles, filtered by the address."""
    member, now = access.member_of(request.user, team), timezone.now()
    view = history.overview(member.team, now)
    words = request.GET.get("q", "").casefold().strip()
    environment, state = request.GET.get("environment", ""), request.GET.get("state", "")
    rows = [
        row
        for row in view.rows
        if _mentions(row, words)
        and (not environment or row.environment == environment)
        and (not state or has_state(row, state))
    ]
    shown = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    filters = {"q": request.GET.get("q", ""), "environment": environment, "state": state}
    return page(
        request, "profiles/list.html", member, "profiles", now=now, sweep=view.sweep, shown=shown,
        incidents_open=view.incidents_open, total=len(view.rows), filters=filters,
        filtered=any(filters.values()), states=history.WORST_FIRST,
    )  # fmt: skip


@login_required
@sensitive_post_parameters("key")
@require_http_methods(["GET", "HEAD", "POST"])
def profile_new(request: HttpRequest, team: str) -> HttpResponse:
    """Describe a profile, with a new endpoint and its key where none was chosen; the first runs start."""
    member = access.member_of(request.user, team, Role.LEAD)
    editor = ProfileEditor(posted(request), access.endpoints_of(member))
    if request.method == "POST" and editor.is_valid():
        with refusals_into(editor.form), transaction.atomic():
            made = editor.form.new_endpoint()
            endpoint = endpoints.create(actor=member, **made) if made else None
            row = deeds.create(actor=member, draft=editor.draft(endpoint))
            tell(
                request,
                _("%(name)s is saved; its ladder runs now.") % {"name": row.name},
                editor.form.edits(),
            )
            return redirect("profile", member.team.slug, row.code)
    return page(
        request,
        "profiles/form.html",
        member,
        "profiles",
        editor=editor,
        form=editor.form,
        calls=editor.form.calls(),
    )


@login_required
@sensitive_post_parameters("key")
@require_http_methods(["GET", "HEAD", "POST"])
def profile_edit(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Change a profile; it gets a new version."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.profile_for(member, code)
    editor = ProfileEditor(posted(request), access.endpoints_of(member), row)
    stale = request.method == "POST" and request.POST.get("version") != str(row.version)
    if stale:
        newer = _("Not saved: the profile is at version %(n)d by now. Compare, then save again.")
        editor.form.add_error(None, newer % {"n": row.version})
    elif request.method == "POST" and editor.is_valid():
        with refusals_into(editor.form), transaction.atomic():
            made = editor.form.new_endpoint()
            endpoint = endpoints.create(actor=member, **made) if made else None
            row = deeds.change(actor=member, profile=row, draft=editor.draft(endpoint))
            tell(
                request,
                _("Saved as version %(n)d; its ladder runs now.") % {"n": row.version},
                editor.form.edits(),
            )
            return redirect("profile", member.team.slug, row.code)
    return page(
        request, "profiles/form.html", member, "profiles", profile=row, editor=editor, form=editor.form,
        calls=editor.form.calls(), stale=stale, version=row.version, status=409 if stale else 200,
    )  # fmt: skip


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def profile_delete(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Delete a profile with its history, once its name was typed."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.profile_for(member, code)
    typed = request.POST.get("name", "")
    if request.method == "POST" and typed == row.name:
        deeds.delete(actor=member, profile=row)
        tell(request, _("%(name)s is deleted.") % {"name": typed})
        return redirect("profiles", member.team.slug)
    return page(
        request,
        "profiles/delete.html",
        member,
        "profiles",
        profile=row,
        wrong=request.method == "POST",
        typed=typed,
    )


def _mentions(row: history.BoardRow, words: str) -> bool:
    """Tell whether a profile's name or one of its models holds the words looked for."""
    return any(words in said.casefold() for said in (row.name, *(cell.now.model for cell in row.cells)))
