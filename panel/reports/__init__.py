"""Reports: the day, week or month of a team on one page, made once, kept as it was, sent by itself."""

from __future__ import annotations

from panel.reports.headline import Headline, Pattern, headline
from panel.reports.making import due_after, is_due, make_due, preview
from panel.reports.shapes import STATES, Body, Broke, KeyDue, LaneLine, Taken, ToDo
from panel.reports.tables import as_csv, as_json
from panel.reports.todo import What
from panel.reports.words import Mail, body_of, chat, mail, markdown, subject

__all__ = [
    "STATES",
    "Body",
    "Broke",
    "Headline",
    "KeyDue",
    "LaneLine",
    "Mail",
    "Pattern",
    "Taken",
    "ToDo",
    "What",
    "as_csv",
    "as_json",
    "body_of",
    "chat",
    "due_after",
    "headline",
    "is_due",
    "mail",
    "make_due",
    "markdown",
    "preview",
    "subject",
]
