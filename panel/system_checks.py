"""What must be true of the settings before anything starts, each with a number and a mend."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks

REFUSED = 3  # gunicorn takes this exit code of a worker as "cannot boot" and stops instead of trying again


@register(Tags.security)
def production_parts(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> Iterable[CheckMessage]:
    """In production nothing falls back to an embedded part or a generated secret."""
    if not settings.PRODUCTION:
        return
    if settings.SECRET_KEY.startswith("missing:"):
        yield Error("PREFLIGHT_SECRET_KEY is not set.", hint="Give 50 random letters.", id="preflight.E001")
    if not settings.MASTER_KEYS:
        yield Error(
            "PREFLIGHT_MASTER_KEYS is not set.",
            hint="Make one with: python manage.py master_key",
            id="preflight.E002",
        )
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        yield Error(
            "DATABASE_URL does not name PostgreSQL.",
            hint="DATABASE_URL=postgres://user:password@host:5432/name",
            id="preflight.E003",
        )
    if not settings.REDIS_URL:
        yield Error("REDIS_URL is not set.", hint="REDIS_URL=redis://host:6379/0", id="preflight.E004")
    if not settings.ALLOWED_HOSTS:
        yield Error(
            "PREFLIGHT_ALLOWED_HOSTS is not set.",
            hint="PREFLIGHT_ALLOWED_HOSTS=preflight.company.example",
            id="preflight.E005",
        )
    if not settings.PUBLIC_URL:
        yield Error(
            "PREFLIGHT_PUBLIC_URL is not set: messages could not link to what they tell of.",
            hint="PREFLIGHT_PUBLIC_URL=https://preflight.company.example",
            id="preflight.E007",
        )
    if settings.DEBUG:
        yield Error(
            "PREFLIGHT_DEBUG shows the inside of the panel to anybody.",
            hint="PREFLIGHT_DEBUG=false",
            id="preflight.E006",
        )


def insist() -> None:
    """End the process with the numbered messages when a check of the settings fails."""
    errors = [found for found in run_checks(tags=[Tags.security]) if found.is_serious()]
    for found in errors:
        print(f"{found.id}: {found.msg} {found.hint or ''}".rstrip(), file=sys.stderr)
    if errors:
        sys.exit(REFUSED)
