"""The past as a file: runs, hours or days of a team, a profile or a lane."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBadRequest, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from panel import access, history
from panel.actions import histories
from panel.history import Form, Rows

USUAL = timedelta(days=30)
TYPES = {Form.CSV: "text/csv; charset=utf-8", Form.JSONL: "application/jsonl; charset=utf-8"}


@login_required
@require_GET
def history_export(request: HttpRequest, team: str) -> HttpResponseBase:
    """Stream what the address asks for: `rows`, `form`, `profile`, `lane`, and `range` or `from` and `to`."""
    member, now, asked = access.member_of(request.user, team), timezone.now(), request.GET
    profile = access.profile_for(member, asked["profile"]) if asked.get("profile") else None
    try:
        rows, form = Rows(asked.get("rows") or "runs"), Form(asked.get("form") or "csv")
        since, until = _stretch(asked.get("range", ""), asked.get("from", ""), asked.get("to", ""), now)
    except ValueError:
        return HttpResponseBadRequest(_("There is no such history: rows, form or time are not known."))
    kind = asked.get("lane", "")
    pieces = histories.export(
        actor=member, rows=rows, form=form, since=since, until=until, profile=profile, kind=kind
    )
    answer = StreamingHttpResponse(pieces, content_type=TYPES[form])
    name = "-".join(part for part in (profile.code if profile else team, kind, str(rows)) if part)
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return answer


def _stretch(range: str, since: str, until: str, now: datetime) -> tuple[datetime, datetime]:
    """Return the time that is asked for; raises ValueError for one that cannot be read."""
    if range in history.RANGES:
        return history.RANGES[range].start(now), now
    end = _moment(until) if until else now
    return _moment(since) if since else end - USUAL, end


def _moment(text: str) -> datetime:
    """Read a day or a time; what names no zone is in the reader's."""
    day = parse_date(text) if len(text) == len("2026-11-30") else None
    found = datetime.combine(day, time()) if day else parse_datetime(text.replace(" ", "+"))
    if found is None or not 2000 <= found.year < 2100:
        raise ValueError(text)
    return (found if found.tzinfo else timezone.make_aware(found)).astimezone(UTC)
