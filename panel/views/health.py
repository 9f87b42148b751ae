"""Whether this process answers and reaches its database; it says nothing about anybody's rows."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


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
