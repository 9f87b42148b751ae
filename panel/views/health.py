"""Whether this process answers and reaches its database, and numbers for who has the token; nobody's rows."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from panel import health


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer {"status": "ok", "start": id of the start}; 503 and "no database" without one."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "no database", "start": settings.START_ID}, status=503)
    return JsonResponse({"status": "ok", "start": settings.START_ID})


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with the text that Prometheus reads; 404 where no token is configured, 401 without it."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not constant_time_compare(
        request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"
    ):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(health.metrics(timezone.now()), content_type=health.CONTENT_TYPE)
