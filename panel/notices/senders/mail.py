"""E-mail: a text part and an HTML part, through the mail server that the operator named."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from email.utils import parseaddr
from typing import Final

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.template.loader import render_to_string
from django.utils.translation import override

from panel.notices.message import Message, Result, Target, Trouble
from panel.notices.senders.text import plain

SECONDS: Final = 15
SUBJECT: Final = 180
MOST_RECIPIENTS: Final = 50

logger = logging.getLogger(__name__)


def available() -> bool:
    """Tell whether the operator named a mail server."""
    return bool(settings.EMAIL_HOST)


def send(target: Target, message: Message) -> Result:
    """Send, and tell what came of it; never raises. A failure after the mail was handed over is unclear to us
    but harmless: the Message-ID is the notice's, and mailboxes keep a second copy of it apart or drop it."""
    if not available():
        return Result(Trouble.NO_MAIL)
    try:
        with get_connection(timeout=SECONDS) as connection:
            connection.send_messages([letter_for(message, target.settings.get("to") or [])])
    except OSError as error:  # SMTPException and TimeoutError are of this kind
        code = getattr(error, "smtp_code", None)
        logger.warning("A mail was not taken: %s.", type(error).__name__)
        if code is not None:
            return Result(Trouble.MAIL_REFUSED, {"code": str(code)})
        return Result(Trouble.MAIL_REFUSED if _refused(error) else Trouble.UNREACHABLE)
    return Result()


def letter_for(message: Message, to: Iterable[str]) -> EmailMultiAlternatives:
    """Return the mail. Nothing answers it by itself, and the notice's code is its Message-ID."""
    host = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "preflight.invalid"
    with override(message.language):
        html = message.html or render_to_string("mail/notice.html", {"message": message})
    letter = EmailMultiAlternatives(
        subject=" ".join(message.title.split())[:SUBJECT],
        body=plain(message),
        to=list(to)[:MOST_RECIPIENTS],
        headers={
            "Message-ID": f"<{message.code}@{host}>",
            "Auto-Submitted": "auto-generated",
            "List-Id": f"Preflight <{message.team or 'preflight'}.{host}>",
            "X-Auto-Response-Suppress": "All",
        },
    )
    letter.attach_alternative(html, "text/html")
    return letter


def _refused(error: OSError) -> bool:
    return type(error).__module__ == "smtplib" and "Refused" in type(error).__name__
