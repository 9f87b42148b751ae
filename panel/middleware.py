"""What every answer carries: the content security policy, and the reader's language and zone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone, translation

from panel import health

Answer = Callable[[HttpRequest], HttpResponse]
logger = logging.getLogger(__name__)


class ContentSecurityPolicyMiddleware:
    """Sends SECURE_CSP with every response, without exception."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response
        self.policy = "; ".join(f"{name} {' '.join(values)}" for name, values in settings.SECURE_CSP.items())

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers["Content-Security-Policy"] = self.policy
        return response


class PreferencesMiddleware:
    """Speaks the reader's own language and zone, else the browser's and the instance's."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = getattr(request.user, "zone", "") or settings.DISPLAY_ZONE
        language = getattr(request.user, "language", "")
        if language:  # LocaleMiddleware chooses anew for each request, so this one need not be undone
            translation.activate(language)
            request.LANGUAGE_CODE = language
        with timezone.override(ZoneInfo(zone)):
            return self.get_response(request)


class FullDiskMiddleware:
    """Answers a deed that found no room on the disk with a page that says so."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the page (507), or None for any other fault."""
        if not health.is_full(exception):
            return None
        logger.error("The disk is full: nothing was saved at %s.", request.path)
        return render(request, "errors/507.html", status=507)
