"""The last gate before a log line leaves: nothing shaped like a key or credential passes."""

from __future__ import annotations

import logging

from checks.redact import redact


class RedactingFilter(logging.Filter):
    """Rewrites each record's message, arguments and traceback text without secrets."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact in place; every record is kept."""
        record.msg = redact(record.getMessage())
        record.args = None
        if record.exc_info:
            record.exc_text = redact(logging.Formatter().formatException(record.exc_info))
        return True
