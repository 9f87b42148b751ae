"""What the pages of a lane's past call: strips to walk over, shares with their digits, the heat of hours."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from panel.history import WORST_FIRST, Heat, HeatCell, LanePage, RunList, Strip
from panel.templatetags import clock, words
from panel.templatetags.kept import kept

register = template.Library()

# Cells of the heat map in its own units; it is stretched to its place.
WIDE, TALL, GAP = 20, 16, 1
NEVER = "."
LETTERS = {"": NEVER, **{state: state[0] if state != "degraded" else "g" for state in WORST_FIRST}}


@register.simple_tag
def strip_facts(strip: Strip) -> SafeString:
    """Return the attributes by which a script walks over a strip: where it begins, and a letter a bar."""
    return format_html(
        'data-start="{}" data-bar="{}" data-states="{}"',
        int(strip.start.timestamp()),
        int(strip.bar.total_seconds()),
        "".join(LETTERS[state] for state in strip.states),
    )


@register.simple_tag
def strip_words() -> str:
    """Return the word for each letter of a strip, as JSON."""
    said = {letter: words.state_word(state) for state, letter in LETTERS.items() if state}
    return json.dumps(said | {NEVER: gettext("no evidence")}, ensure_ascii=False)


@register.simple_tag
def zone_key() -> str:
    """Return the reader's zone by its name in the tz database."""
    return timezone.get_current_timezone_name()


@register.filter
def availability(strip: Strip) -> str:
    """Return the share of a strip with no more digits than its runs carry."""
    return clock.share(strip.availability, strip.told)


@register.filter
def evidence(strip: Strip) -> str:
    """Say how much of what should have been seen was seen; nothing where that is all, or nothing at all."""
    if strip.first is None or strip.evidence >= 1:
        return ""
    return gettext("evidence %(share)s") % {"share": clock.share(strip.evidence, 100)}


@register.filter
def address_time(moment: datetime) -> str:
    """Return a time as addresses carry it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment.microsecond == 0 else f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}"


class HeatDrawn(NamedTuple):
    """A heat map: the drawing, the sentence, the head of each row, and each row's cells in words."""

    svg: SafeString
    sentence: str
    heads: list[str]
    rows: list[tuple[str, list[str]]]


@register.simple_tag
@kept
def heat_map(heat: Heat, lane: str) -> HeatDrawn:
    """Return the heat map of the lane of this name: in each hour the failed part rises from the ground."""
    heads = [_head(label) for label in heat.labels]
    sentence = _sentence(heat, heads)
    label = gettext("%(lane)s by the hour: %(past)s") % {"lane": lane, "past": sentence}
    said = [[_cell_words(cell) for cell in row] for row in heat.rows]
    return HeatDrawn(_drawn(heat, label), sentence, heads, list(zip(heads, said, strict=True)))


def _head(label: date | int) -> str:
    if isinstance(label, int):  # 5 January 1970 was a Monday
        return date_format(date(1970, 1, 5) + timedelta(days=label), "D")
    noon = datetime(label.year, label.month, label.day, 12, tzinfo=timezone.get_current_timezone())
    return clock.day(noon)


def _drawn(heat: Heat, label: str) -> SafeString:
    paths = {"h-ok": "", "h-degraded": "", "h-down": ""}
    for row, cells in enumerate(heat.rows):
        for hour, cell in enumerate(cells):
            for name, shape in _shapes(cell, hour * WIDE, (row + 1) * TALL):
                paths[name] += shape
    drawn = format_html_join("", '<path class="{}" d="{}"/>', ((name, d) for name, d in paths.items() if d))
    height = len(heat.rows) * TALL
    return format_html(
        '<svg class="heat-map" viewBox="0 0 {} {}" height="{}" preserveAspectRatio="none" role="img" '
        'aria-label="{}">{}</svg>',
        24 * WIDE,
        height,
        height,
        label,
        drawn,
    )


def _shapes(cell: HeatCell, left: int, bottom: int) -> list[tuple[str, str]]:
    """Return the boxes of a cell, from the ground up: down, degraded, ok; what is there is seen."""
    if not cell.told:
        return []
    room, shapes = float(TALL - GAP), []
    parts = (("h-down", cell.down), ("h-degraded", cell.degraded), ("h-ok", cell.ok))
    base, rest = float(bottom), room
    for name, count in parts:
        if count:
            tall = min(rest, max(3.0, room * count / cell.told))
            base, rest = base - tall, rest - tall
            if tall:
                shapes.append((name, f"M{left} {base:g}h{WIDE - GAP}v{tall:g}h{GAP - WIDE}z"))
    return shapes


def _cell_words(cell: HeatCell) -> str:
    return f"{cell.down}/{cell.told}" if cell.told else "—"


def _sentence(heat: Heat, heads: list[str]) -> str:
    """Say when most runs failed."""
    cells = [
        (cell, head, hour)
        for head, row in zip(heads, heat.rows, strict=True)
        for hour, cell in enumerate(row)
    ]
    told, down = sum(cell.told for cell, *_ in cells), sum(cell.down for cell, *_ in cells)
    if not told:
        return gettext("no evidence yet")
    if not down:
        return ngettext("the one run did not fail", "none of %(n)d runs failed", told) % {"n": told}
    worst, head, hour = max(cells, key=lambda each: (each[0].down / max(1, each[0].told), each[0].down))
    return ngettext(
        "%(down)d of %(told)d run failed, most of them %(day)s from %(from)s to %(to)s: %(worst)d of %(n)d",
        "%(down)d of %(told)d runs failed, most of them %(day)s from %(from)s to %(to)s: %(worst)d of %(n)d",
        told,
    ) % {
        "down": down, "told": told, "day": head, "from": f"{hour:02d}:00", "to": f"{(hour + 1) % 24:02d}:00",
        "worst": worst.down, "n": worst.told,
    }  # fmt: skip


@register.simple_tag
def older_than_kept(runs: RunList, kept_days: int, now: datetime) -> bool:
    """Tell whether the picked time is older than what is kept of runs."""
    return runs.since is not None and runs.since < now - timedelta(days=kept_days)


@register.filter
def picked_query(view: LanePage) -> str:
    """Return what an address adds to keep the picked time; empty for none."""
    return f"&at={address_time(view.runs.since)}" if view.runs.since else ""
