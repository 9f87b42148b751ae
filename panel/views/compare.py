"""Places compared: where the way to a lane differs between Preflight and its host."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from panel import access, history
from panel.views.shell import page


@login_required
@require_safe
def compare(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Show one lane hop by hop as each place sees it."""
    member, now = access.member_of(request.user, team), timezone.now()
    profile = access.profile_for(member, code)
    wanted = request.GET.get("lane")
    kind = wanted if wanted in history.KINDS else history.KINDS[0]
    return page(
        request, "compare/compare.html", member, "profiles", now=now, profile=profile, kind=kind,
        view=history.compare(profile, kind, now), recipe=access.recipe_for(member, code),
    )  # fmt: skip
