"""The archive of reports, each report as page and as file, and who gets one when."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from panel import access, reports
from panel.access import Role
from panel.actions import reports as deeds
from panel.actions.reports import ScheduleDraft
from panel.forms.reports import PreviewForm, ScheduleForm
from panel.views.shell import page, posted, refusals_into, tell

A_PAGE = 25


@login_required
@require_safe
def archive(request: HttpRequest, team: str) -> HttpResponse:
    """List the reports that were made, newest first, and what comes next."""
    member = access.member_of(request.user, team)
    shown = Paginator(access.reports_of(member), A_PAGE).get_page(request.GET.get("page"))
    schedules = access.report_schedules_of(member)
    return page(
        request, "reports/list.html", member, "reports", shown=shown, schedules=schedules,
        zone=timezone.get_current_timezone_name(),
    )  # fmt: skip


@login_required
@require_safe
def report(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Show one report as it was made."""
    member = access.member_of(request.user, team)
    row = access.report_for(member, code)
    return page(
        request, "reports/report.html", member, "reports", report=row, body=reports.body_of(row),
        told=access.told_of(row),
    )  # fmt: skip


@login_required
@require_safe
def report_preview(request: HttpRequest, team: str) -> HttpResponse:
    """Show the report of the period under way, so far; it is not kept."""
    member = access.member_of(request.user, team)
    usual = {"period": "week", "zone": timezone.get_current_timezone_name()}
    form = PreviewForm(usual | request.GET.dict())
    chosen = form.cleaned_data if form.is_valid() else usual
    row = reports.preview(member.team, chosen["period"], chosen["zone"], timezone.now())
    return page(
        request, "reports/report.html", member, "reports", report=row, body=reports.body_of(row), form=form
    )


@login_required
@require_safe
def report_csv(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Hand out a report as CSV, a line a lane."""
    row = access.report_for(access.member_of(request.user, team), code)
    return _file(row, reports.as_csv(row), "csv", "text/csv; charset=utf-8")


@login_required
@require_safe
def report_json(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Hand out a report as JSON."""
    row = access.report_for(access.member_of(request.user, team), code)
    return _file(row, reports.as_json(row), "json", "application/json")


@login_required
@require_safe
def report_markdown(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Answer with a report as Markdown, in the reader's language."""
    row = access.report_for(access.member_of(request.user, team), code)
    site = request.build_absolute_uri("/").rstrip("/")
    text = reports.markdown(row, language=get_language() or "en", site=site)
    return _file(row, text, "md", "text/markdown; charset=utf-8")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report_schedules(request: HttpRequest, team: str) -> HttpResponse:
    """List the schedules; a POST adds one."""
    member = access.member_of(request.user, team, Role.LEAD if request.method == "POST" else Role.VIEWER)
    channels = list(access.channels_of(member))
    form = ScheduleForm(posted(request), channels=channels)
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            deeds.save_schedule(actor=member, draft=ScheduleDraft(**form.cleaned_data))
            tell(request, _("The schedule is saved."))
            return redirect("report_schedules", member.team.slug)
    schedules = access.report_schedules_of(member)
    return page(request, "reports/schedules.html", member, "reports", form=form, schedules=schedules)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report_schedule(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Change one schedule."""
    member = access.member_of(request.user, team, Role.LEAD)
    row = access.report_schedule_for(member, code)
    form = ScheduleForm(posted(request), channels=list(access.channels_of(member)), initial=_said(row))
    if request.method == "POST" and form.is_valid():
        with refusals_into(form):
            deeds.save_schedule(actor=member, draft=ScheduleDraft(**form.cleaned_data), schedule=row)
            tell(request, _("The schedule is saved."))
            return redirect("report_schedules", member.team.slug)
    return page(request, "reports/schedule.html", member, "reports", form=form, schedule=row)


@login_required
@require_POST
def report_schedule_delete(request: HttpRequest, team: str, code: str) -> HttpResponse:
    """Delete one schedule; its reports stay."""
    member = access.member_of(request.user, team, Role.LEAD)
    deeds.delete_schedule(actor=member, schedule=access.report_schedule_for(member, code))
    tell(request, _("The schedule is deleted. Its reports stay."))
    return redirect("report_schedules", member.team.slug)


def _said(schedule: Any) -> dict[str, Any]:
    names = ("period", "hour", "weekday", "day", "zone")
    said = {name: getattr(schedule, name) for name in names}
    return said | {"channels": [channel.code for channel in schedule.channels.all()]}


def _file(row: Any, text: str, ending: str, content_type: str) -> HttpResponse:
    response = HttpResponse(text, content_type=content_type)
    name = f"{row.team.slug}-{row.period}-{row.begins.date().isoformat()}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
