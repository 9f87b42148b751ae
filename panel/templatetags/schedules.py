"""How a standing check and a maintenance are spoken of: when they come, and what is spent."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import available_timezones

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from panel import timetable
from panel.maintenance import Planned
from panel.models import Check, Lane
from panel.templatetags import clock
from panel.templatetags.cron_words import cron_words
from panel.templatetags.words import lane_name

register = template.Library()
NEXT_SHOWN = 3


@register.filter
def rhythm(order: Check) -> str:
    """Say when a check runs: "every 5 min", or its cron in words."""
    if not order.cron:
        return gettext("every %(interval)s") % {"interval": clock.seconds(order.interval_s)}
    return gettext("%(cron)s (%(zone)s)") % {"cron": cron_said(order.cron), "zone": order.zone}


@register.filter
def quiet(order: Check) -> str:
    """Say the quiet hours: "22:00–07:00, Europe/Berlin"; empty for none."""
    if order.quiet_from is None or order.quiet_to is None:
        return ""
    hours = f"{order.quiet_from:%H:%M}–{order.quiet_to:%H:%M}"  # a range
    return gettext("%(hours)s, %(zone)s") % {"hours": hours, "zone": order.zone}


@register.filter
def cron_said(expression: str) -> str:
    """Return the words of a cron expression; where it has none, the expression itself."""
    return cron_words(expression) or expression


@register.simple_tag
def next_slots(expression: str, zone: str, now: datetime) -> list[SafeString]:
    """Return the next times of a cron expression; none while it is not one."""
    if not expression or zone not in available_timezones():
        return []
    try:
        return [
            clock.at(slot, now) for slot in islice(timetable.cron_slots(expression, zone, now), NEXT_SHOWN)
        ]
    except timetable.CronRefused:
        return []


@register.filter
def spent_today(lane: Lane, now: datetime) -> int:
    """Return the tokens that checks of this lane spent this UTC day."""
    state = getattr(lane, "now", None)
    if state is None or state.tokens_day != now.astimezone(UTC).date():
        return 0
    return int(state.tokens_spent)


@register.filter
def scope(planned: Planned) -> str:
    """Say what is in maintenance."""
    row = planned.row
    if row.lane is not None:
        name = lane_name(row.lane.kind, row.lane.profile.generation)
        return gettext("%(profile)s, %(lane)s") % {"profile": row.lane.profile.name, "lane": name}
    if row.profile is not None:
        return row.profile.name
    if row.host is not None:
        return gettext("host %(name)s") % {"name": row.host.name}
    return gettext("the whole team")


@register.simple_tag
def zones() -> list[str]:
    """Return the names of all time zones."""
    return sorted(available_timezones())
