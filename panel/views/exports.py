"""The export page: choose, look, take away."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from panel import access
from panel.access import Membership, Role
from panel.actions import bundles
from panel.forms.exports import ExportForm
from panel.views.shell import page, refusals_into


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def profile_export(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Preview a bundle by address; hand it out by POST, as an attachment that is kept nowhere."""
    member = access.member_of(request.user, team, Role.ENGINEER)
    row = access.profile_for(member, code)
    form = _form(request, member, row)
    view = None
    if form.is_valid():
        with refusals_into(form):
            if request.method == "POST":
                return _attachment(bundles.export(actor=member, profile=row, **form.cleaned_data))
            view = bundles.preview(actor=member, profile=row, **form.cleaned_data)
    return page(
        request, "profiles/export.html", member, "profiles", profile=row, form=form, view=view,
        may_take_keys=bundles.may_take_keys(member, row),
    )  # fmt: skip


def _form(request: HttpRequest, member: Membership, profile: Any) -> ExportForm:
    lanes = [lane.kind for lane in profile.lanes.all() if lane.in_use]
    may_take_keys = bundles.may_take_keys(member, profile)
    data = request.POST if request.method == "POST" else request.GET
    return ExportForm(data, lanes=lanes, may_take_keys=may_take_keys)


def _attachment(bundle: Any) -> HttpResponse:
    """A file for this reader alone: no cache on the way may keep it."""
    response = HttpResponse(bundle.text, content_type=bundle.content_type)
    response["Content-Disposition"] = f'attachment; filename="{bundle.file_name}"'
    response["Cache-Control"] = "no-store, private"
    response["X-Content-Type-Options"] = "nosniff"
    return response
