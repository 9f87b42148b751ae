"""The last gate before a log line leaves: nothing shaped like a key or credential passes."""

from __future__ import annotations

import logging
from typing import Any

from checks.redact import redact

# Libraries whose every-day lines tell a reader nothing, or name the addresses that are called.
QUIET = ("httpx", "httpcore", "gunicorn.access", "celery.worker.strategy", "celery.app.trace", "celery.beat")


class RedactingFilter(logging.Filter):
    """Rewrites each record's message, arguments and traceback text without secrets."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact in place; every record is kept."""
        record.msg = redact(record.getMessage(), ())
        record.args = None
        if record.exc_info:
            record.exc_text = redact(logging.Formatter().formatException(record.exc_info), ())
        if record.stack_info:
            record.stack_info = redact(record.stack_info, ())
        return True


def logging_settings(level: str) -> dict[str, Any]:
    """Return the dictConfig of every process: one handler on stderr, behind the redacting filter."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"redact": {"()": "panel.logs.RedactingFilter"}},
        "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["redact"]}
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # Django and gunicorn bring handlers of their own, which would pass the filter by.
            **{
                name: {"handlers": [], "propagate": True}
                for name in ("django", "django.server", "gunicorn.error")
            },
            **{name: {"handlers": [], "propagate": True, "level": "WARNING"} for name in QUIET},
        },
    }
