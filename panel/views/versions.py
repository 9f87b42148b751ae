"""Who changed what of a profile, version by version."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from panel import access
from panel.views.shell import page

A_PAGE = 25


@login_required
@require_safe
def versions(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """List a profile's versions, each with what it changed against the one before."""
    member = access.member_of(request.user, team)
    row = access.profile_for(member, code)
    found = list(access.versions_of(member, code))
    pairs = zip(found, [*found[1:], None], strict=True)
    shown = Paginator(list(pairs), A_PAGE).get_page(request.GET.get("page"))
    return page(request, "profiles/versions.html", member, "profiles", profile=row, shown=shown)
