"""Words and drawings of incidents: what it is about, what happened in it, where and when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from panel.dictionary import entry as dictionary_entry
from panel.history import EntryView, IncidentList, IncidentPage, IncidentRow, SpanRow
from panel.templatetags import clock, words

register = template.Library()

WIDTH, HEIGHT = 960, 16
# Height of a span by state, so that it reads without hue; what is not here is a gap.
TALL = {"ok": 7, "degraded": 12, "down": HEIGHT}
SPELLS_SAID = 6
ICONS = {
    "opened": "s-down", "joined": "s-down", "recovered": "s-ok", "closed": "s-ok", "muted": "s-paused",
    "unmuted": "i-incident", "told": "i-incident", "escalated": "i-incident",
}  # fmt: skip
OF_LANES: dict[str, Promise] = {
    "opened": _("%(state)s, confirmed: %(lanes)s"),
    "joined": _("The same cause, %(state)s: %(lanes)s"),
    "changed": _("Now %(state)s: %(lanes)s"),
    "recovered": _("Recovered: %(lanes)s"),
}
MOVED, OUT_OF_USE = _("Broken for another cause now: %(lanes)s"), _("No longer in use: %(lanes)s")
OF_PEOPLE: dict[str, Promise] = {
    "taken": _("%(who)s took it"),
    "handed": _("%(who)s handed it over to %(to)s"),
    "muted": _("%(who)s muted it until %(until)s"),
    "unmuted": _("%(who)s has people notified again"),
    "told": _("Told %(channel)s"),
    "escalated": _("Escalated to %(channel)s"),
    "closed": _("Closed: no lane is broken any more"),
}


@register.filter
def incident_title(row: IncidentRow) -> str:
    """Return what broke, in the dictionary's words."""
    return dictionary_entry(row.reason).title


@register.filter
def incident_subject(row: IncidentRow) -> str:
    """Return whose it is: the host, or the endpoint with its key's version; empty for a profile's own."""
    if row.host_name:
        return gettext("host %(name)s") % {"name": row.host_name}
    if row.key_number and row.endpoint_name:
        return gettext("%(endpoint)s, key v%(number)d") % {
            "endpoint": row.endpoint_name, "number": row.key_number,
        }  # fmt: skip
    return row.endpoint_name


@register.filter
def incidents_headline(view: IncidentList) -> str:
    """Say how many are open; without any, how quiet it was."""
    if view.open:
        return ngettext("One incident is open", "%(n)d incidents are open", view.open) % {"n": view.open}
    return gettext("No incident is open")


@register.filter
def lasted(row: IncidentRow, now: datetime) -> timedelta:
    """Return how long it lasted, or lasts."""
    return (row.closed_at or now) - row.opened_at


@register.filter
def lane_count(number: int) -> str:
    """Return "1 lane" or "30 lanes"."""
    return ngettext("%(n)d lane", "%(n)d lanes", number) % {"n": number}


@register.filter
def entry_icon(entry: EntryView) -> str:
    """Return the symbol of a line that no person stands for."""
    if entry.kind in ("opened", "joined", "changed"):
        return f"s-{entry.say.get('state') or 'unknown'}"
    return ICONS.get(entry.kind, "i-incident")


@register.filter
def entry_state(entry: EntryView) -> str:
    """Return the state whose colour a line of the timeline has; empty for none."""
    if entry.kind in ("opened", "joined", "changed"):
        return str(entry.say.get("state") or "")
    return "ok" if entry.kind in ("recovered", "closed") else ""


@register.filter
def entry_sentence(entry: EntryView) -> str:
    """Say what happened, in a line of the timeline that is no note."""
    if entry.kind in OF_LANES:
        return str(_of_lanes(entry)) % {
            "lanes": _lanes_said(entry.say), "state": words.state_word(str(entry.say.get("state") or "")),
        }  # fmt: skip
    said = {
        "who": entry.author or gettext("Somebody who left"),
        "to": entry.say.get("to", ""),
        "channel": entry.say.get("channel", ""),
        "until": _moment(entry.say.get("until", "")),
    }
    return str(OF_PEOPLE.get(entry.kind, entry.kind)) % said


def _of_lanes(entry: EntryView) -> Promise:
    if entry.kind == "recovered" and entry.say.get("moved"):
        return MOVED
    if entry.kind == "recovered" and entry.say.get("state") == "out_of_use":
        return OUT_OF_USE
    return OF_LANES[entry.kind]


def _lanes_said(say: Mapping[str, Any]) -> str:
    lanes = say.get("lanes") or []
    named = [
        gettext("%(profile)s (%(lane)s)")
        % {"profile": lane["profile"], "lane": words.lane_name(lane["kind"])}
        for lane in lanes
    ]
    more = int(say.get("count") or 0) - len(named)
    if more > 0:
        named.append(ngettext("%(n)d more", "%(n)d more", more) % {"n": more})
    return words.listed(named)


def _moment(iso: str) -> str:
    try:
        local = timezone.localtime(datetime.fromisoformat(iso))
    except ValueError:
        return ""
    return gettext("%(day)s, %(time)s") % {"day": clock.day(local), "time": f"{local:%H:%M}"}


@register.filter
def span_sentence(row: SpanRow) -> str:
    """Say a row of spans in words."""
    said = [
        gettext("%(state)s from %(start)s to %(end)s")
        % {
            "state": words.state_word(spell.state),
            "start": f"{timezone.localtime(spell.begins):%H:%M}",
            "end": f"{timezone.localtime(spell.ends):%H:%M}",
        }
        for spell in row.spells[-SPELLS_SAID:]
    ]
    hidden = len(row.spells) - len(said)
    if hidden:
        said.insert(0, ngettext("%(n)d earlier spell", "%(n)d earlier spells", hidden) % {"n": hidden})
    return words.listed(said)


@register.simple_tag
def span_labels(view: IncidentPage, now: datetime) -> list[str]:
    """Return five labels below the spans of an incident that is over."""
    quarter = (view.ends - view.begins) / 4
    moments = [timezone.localtime(view.begins + quarter * n) for n in range(5)]
    labels = [f"{moment:%H:%M}" for moment in moments]
    labels[0] = gettext("%(day)s, %(time)s") % {"day": clock.day(moments[0], now), "time": labels[0]}
    return labels


@register.simple_tag
def span_bar(row: SpanRow, view: IncidentPage) -> SafeString:
    """Return a row of spans: low where well, tall where down, hatched where nothing is known."""
    whole = (view.ends - view.begins).total_seconds() or 1.0
    shapes = []
    for spell in row.spells:
        x = (spell.begins - view.begins).total_seconds() / whole * WIDTH
        width = max(1.0, (spell.ends - spell.begins).total_seconds() / whole * WIDTH)
        tall = TALL.get(spell.state, TALL["ok"])
        name = (
            f"sp-{spell.state}"
            if spell.state in TALL
            else "g-mnt"
            if spell.state == "maintenance"
            else "g-gap"
        )
        shapes.append((name, f"{x:.1f}", HEIGHT - tall, f"{width:.1f}", tall))
    return format_html(
        '<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>',
        WIDTH,
        HEIGHT,
        span_sentence(row),
        format_html_join("", '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>', shapes),
    )
