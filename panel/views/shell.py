"""What all pages of a team share: the frame around a page, and how deeds answer forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django_htmx.middleware import HtmxDetails

from panel import access, history
from panel.access import Membership, Role
from panel.actions import Refused

LIVE_SECONDS = 15
RUNNING_SECONDS = 1
OUTPUT_SECONDS = 2


class Request(HttpRequest):
    """A request after the htmx middleware."""

    htmx: HtmxDetails


def page(
    request: HttpRequest,
    template: str,
    member: Membership,
    section: str,
    *,
    now: datetime | None = None,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """Answer with a page of the team. `section` is the entry of the navigation that it belongs to."""
    now = now or timezone.now()
    frame = {
        "member": member,
        "team": member.team,
        "section": section,
        "now": now,
        "may_run": member.may(Role.ENGINEER),
        "may_lead": member.may(Role.LEAD),
        # Asked only where a control is missing and the page names who has it.
        "leads": lambda: access.helpers_of(member, Role.LEAD),
        "engineers": lambda: access.helpers_of(member, Role.ENGINEER),
        # Drawn twice, for wide and narrow screens, and not at all in the part that refreshes itself.
        "incidents_open": cache(lambda: history.open_incidents(member.team)),
    }
    if "sweep" not in context:
        frame["sweep"] = history.sweep(now)
    return render(request, template, frame | context, status=status)


def is_live(request: HttpRequest) -> bool:
    """Tell whether the page may refresh itself: the reader can say no, and it stays in the address."""
    return request.GET.get("live") != "0"


def mark_of(word: str, now: datetime) -> str:
    """Return the mark of a page from its word: it changes with each run, and with each minute that ages."""
    return f"{word}.{int(now.timestamp()) // 60}"


def still_seen(request: Request, member: Membership, now: datetime, profile: str = "") -> bool:
    """Tell whether a poll says that it shows the team's overview, or this profile, as it is now."""
    seen = request.GET.get("seen", "") if request.htmx else ""
    return bool(seen) and seen == mark_of(history.newest_change(member.team, now, profile), now)


def posted(request: HttpRequest) -> QueryDict | None:
    """Return what a form is bound to: what was sent, or nothing before anything was."""
    return request.POST if request.method == "POST" else None


@contextmanager
def refusals_into(form: forms.BaseForm) -> Iterator[None]:
    """Put a refused deed's sentence at the field that is to blame, so that the page is shown again."""
    try:
        yield
    except Refused as refused:
        form.add_error(refused.field if refused.field in form.fields else None, str(refused.sentence))


def tell(request: HttpRequest, done: str, edits: Iterable[str] = ()) -> None:
    """Say on the next page that it is done, and each thing that was changed in what was pasted."""
    messages.success(request, done)
    for edit in edits:
        messages.info(request, edit)
