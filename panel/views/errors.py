"""Pages for what went wrong: forbidden, absent, out of date, broken."""

from __future__ import annotations

import logging
import secrets

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from panel import access

logger = logging.getLogger(__name__)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say who can help: the role was too low."""
    return render(request, "errors/403.html", {"helpers": _helpers(request)}, status=403)


def absent(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say the same of what is absent and of what is another team's."""
    return render(request, "errors/404.html", status=404)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form is older than the session: open it again."""
    return render(request, "errors/csrf.html", status=403)


def broken(request: HttpRequest) -> HttpResponse:
    """Give a number to quote; the log has it too."""
    number = secrets.token_hex(4)
    logger.error("fault %s at %s", number, request.path)
    return render(request, "errors/500.html", {"number": number}, status=500)


def _helpers(request: HttpRequest) -> list[str]:
    match = request.resolver_match
    slug = match.kwargs.get("team") if match else None
    if not slug or not request.user.is_authenticated:
        return []
    member = access.member_of(request.user, slug)
    return access.helpers_of(member, access.Role.LEAD)
