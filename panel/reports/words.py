"""A report as it is sent: mail in HTML and text, Markdown for chats, each in a reader's language.

The words stand in templates; times are those of the report's zone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation

from panel.models import Report
from panel.reports.shapes import Body, from_json

# Lanes in a mail: with more, a mail is longer than what common readers show at once (102 kB).
MAIL_LANES = 24
# Rows of each list in a chat message, tried in this order until the message fits.
CHAT_ROWS = (12, 8, 5, 3, 1, 0)
# The narrowest of the chats that reports go to: WeCom takes 4,096 bytes of Markdown.
# With its title and a link it stays below that.
CHAT_BYTES = 3600
EVERY_ROW = 100_000


@dataclass(frozen=True, slots=True)
class Mail:
    """A report as mail: one line of subject, and the rest as HTML and as plain text."""

    subject: str
    text: str
    html: str


def subject(report: Report, *, language: str) -> str:
    """Return the headline of the report as one line."""
    return " ".join(_rendered("subject.txt", report, language, "").split())


def mail(report: Report, *, language: str, site: str) -> Mail:
    """Return the report as mail; `site` is where people reach this instance
    ("https://preflight.example"), empty where nobody said: then nothing is linked."""
    return Mail(
        subject=subject(report, language=language),
        text=_rendered("report.txt", report, language, site, most=MAIL_LANES),
        html=_rendered("report.html", report, language, site, most=MAIL_LANES),
    )


def chat(report: Report, *, language: str, site: str, most_bytes: int = CHAT_BYTES) -> str:
    """Return the report without its subject as Markdown of at most so many bytes of UTF-8: emphasis, lists
    and a link, as every chat knows them; no table. What is left out is counted, and the whole is linked."""
    for rows in CHAT_ROWS:
        text = _rendered("report.md", report, language, site, most=rows)
        if len(text.encode()) <= most_bytes:
            return text
    return text.encode()[:most_bytes].decode(errors="ignore")


def markdown(report: Report, *, language: str, site: str) -> str:
    """Return the whole report as Markdown, its subject as the heading."""
    rest = _rendered("report.md", report, language, site, most=EVERY_ROW)
    return f"### {subject(report, language=language)}\n\n{rest}"


def body_of(report: Report) -> Body:
    """Return what the report holds."""
    return from_json(report.body)


def _rendered(name: str, report: Report, language: str, site: str, **context: Any) -> str:
    body = body_of(report)
    with translation.override(language), timezone.override(ZoneInfo(report.zone)):
        return render_to_string(
            f"mail/report/{name}",
            {
                "report": report,
                "body": body,
                "team": report.team,
                "url": site and site + reverse("report", args=[report.team.slug, report.code]),
                "now": report.made_at,
            }
            | context,
        )
