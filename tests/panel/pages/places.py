"""Every page that a test walks through, by name."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from panel.models import Channel, Endpoint, Host, Incident, Membership, Report, ReportSchedule, Route, Run
from tests.panel.pages.scene import Scene

FOR_VIEWERS = (
    "overview", "profiles", "profile", "versions", "run", "endpoints", "endpoint", "keys", "activity",
    "members", "settings", "hosts", "host", "compare", "maintenance", "reports", "report", "report_preview",
    "report_schedules", "incidents", "incident",
)  # fmt: skip
FOR_ENGINEERS = ("profile_export", "dry_run")
FOR_LEADS = (
    "profile_new", "profile_edit", "profile_delete", "endpoint_new", "endpoint_edit", "endpoint_delete",
    "key_add", "key_destroy", "member_edit", "host_new", "host_edit", "host_delete", "host_key", "recipe",
    "channels", "channel_new", "channel", "channel_edit", "channel_delete", "route_new", "route_edit",
    "lane_pause",
    "report_schedule",
)  # fmt: skip
OF_TEAMS = FOR_VIEWERS + FOR_ENGINEERS + FOR_LEADS
OUTSIDE = ("me", "help", "account_change_password", "account_logout")
FOR_NOBODY = ("account_login", "account_signup", "account_inactive")
OF_THE_TEAM = (
    "overview", "profiles", "endpoints", "keys", "activity", "members", "settings", "profile_new",
    "endpoint_new", "hosts", "host_new", "channels", "channel_new", "route_new",
    "reports", "report_preview", "report_schedules", "incidents",
)  # fmt: skip
OF_REPORTS: dict[str, Any] = {"report": Report, "report_schedule": ReportSchedule}
OF_CHANNELS = ("channel", "channel_edit", "channel_delete")
OF_HOSTS = ("host", "host_edit", "host_delete", "host_key")
OF_ENDPOINTS = ("endpoint", "endpoint_edit", "endpoint_delete", "key_add", "key_destroy")


def address(name: str, atlas: Scene) -> str:
    """Return where a page of the scene is found."""
    if name in OUTSIDE + FOR_NOBODY:
        return reverse(name)
    if name == "run":
        return reverse(name, args=[atlas.slug, Run.objects.filter(status="down").latest("slot").code])
    if name in OF_ENDPOINTS:
        return reverse(name, args=[atlas.slug, Endpoint.objects.get(name="relay-main").code])
    if name in OF_REPORTS:
        return reverse(name, args=[atlas.slug, OF_REPORTS[name].objects.get().code])
    if name in OF_CHANNELS:
        return reverse(name, args=[atlas.slug, Channel.objects.get(name="oncall").code])
    if name == "incident":
        return reverse(name, args=[atlas.slug, Incident.objects.get(worst="down").number])
    if name == "route_edit":
        return reverse(name, args=[atlas.slug, Route.objects.get(channel__name="oncall").code])
    if name in OF_HOSTS:
        return reverse(name, args=[atlas.slug, Host.objects.get(name="gpu-a12").code])
    if name == "member_edit":
        return reverse(name, args=[atlas.slug, Membership.objects.get(pk=atlas.viewer.pk).code])
    if name in OF_THE_TEAM:
        return reverse(name, args=[atlas.slug])
    return reverse(name, args=[atlas.slug, atlas.down.code])
