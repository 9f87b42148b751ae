"""Puts reports into words, for pages, mail and chat alike: headlines, periods, comparisons, what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django import template
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext, pgettext

from panel import dictionary, rollups
from panel.notices.senders.text import unmarked
from panel.reports import STATES, Body, Broke, Headline, LaneLine, Pattern, Taken, ToDo, What, headline
from panel.templatetags import clock, drawing, words

register = template.Library()

# A change of p95 by one bucket of the histograms is none that was measured; a little more, for rounding.
SAME_WITHIN = rollups.GROWTH * 1.02
MAIL_BARS = 28
PAGE_LANES = 150
MAIL_COLOURS = {
    "ok": "#45997a",
    "degraded": "#b77407",
    "down": "#cf3a30",
    "unknown": "#84888f",
    "not_testable": "#9fb3c8",
    "maintenance": "#7357c9",
    "paused": "#d2d2cc",
    "": "#ffffff",
}


@register.filter
def report_headline(body: Body) -> str:
    """Say in one sentence how the period was: "Week 48: 2 outages, the longest 58 min"."""
    return gettext("%(period)s: %(what)s") % {"period": period_name(body), "what": _said(headline(body))}


def _said(said: Headline) -> str:
    values = {"lanes": said.lanes, "seen": said.seen, "n": said.outages, "slow": said.slow, "down": said.down}
    longest = clock.span(timedelta(seconds=said.longest_s))
    return _SENTENCES[said.pattern](said) % (values | {"longest": longest})


def _still_down(said: Headline) -> str:
    return ngettext(
        "one lane is still down, the longest outage took %(longest)s",
        "%(down)d lanes are still down, the longest outage took %(longest)s",
        said.down,
    )


def _outages(said: Headline) -> str:
    return ngettext("one outage of %(longest)s", "%(n)d outages, the longest %(longest)s", said.outages)


def _outages_and_slow(said: Headline) -> str:
    if said.outages == 1:
        return ngettext(
            "one outage of %(longest)s, and one lane was slow for a time",
            "one outage of %(longest)s, and %(slow)d lanes were slow for a time",
            said.slow,
        )
    return ngettext(
        "%(n)d outages, the longest %(longest)s, and one lane was slow for a time",
        "%(n)d outages, the longest %(longest)s, and %(slow)d lanes were slow for a time",
        said.slow,
    )


_SENTENCES: dict[Pattern, Callable[[Headline], str]] = {
    Pattern.NO_LANES: lambda _: gettext("no lane is checked yet"),
    Pattern.NO_EVIDENCE: lambda _: gettext("nothing was seen of any lane"),
    Pattern.STILL_DOWN: _still_down,
    Pattern.OUTAGES: _outages,
    Pattern.OUTAGES_AND_SLOW: _outages_and_slow,
    Pattern.SLOW: lambda said: ngettext(
        "no outage, one lane was slow for a time",
        "no outage, %(slow)d lanes were slow for a time",
        said.slow,
    ),
    Pattern.CALM: lambda said: ngettext(
        "the lane was OK throughout", "all %(lanes)d lanes were OK throughout", said.lanes
    ),
    Pattern.CALM_WHERE_SEEN: lambda said: ngettext(
        "one lane was OK throughout, nothing was seen of the rest",
        "%(seen)d lanes were OK throughout, nothing was seen of the rest",
        said.seen,
    ),
}


@register.filter
def period_name(body: Any) -> str:
    """Return what the period is called: "Week 48", "November 2026", "Mon 23 Nov"."""
    first = _local(body.begins, body.zone)
    if body.period == "week":
        return gettext("Week %(n)d") % {"n": first.isocalendar().week}
    if body.period == "month":
        return date_format(first, pgettext("date format of a month", "F Y"))
    return date_format(first, pgettext("date format of a day with its weekday", "D j M"))


@register.filter
def period_dates(body: Any) -> str:
    """Return the days of the period with their year: "23 to 29 Nov 2026"."""
    first = _local(body.begins, body.zone)
    last = _local(body.ends, body.zone) - timedelta(seconds=1)
    if first.date() == last.date():
        return date_format(first, pgettext("date format of a day", "j M Y"))
    start = (
        pgettext("first day of a range within a month", "j")
        if first.month == last.month
        else pgettext("first day of a range within a year", "j M")
        if first.year == last.year
        else pgettext("first day of a range", "j M Y")
    )
    end = date_format(last, pgettext("last day of a range", "j M Y"))
    return gettext("%(first)s to %(last)s") % {"first": date_format(first, start), "last": end}


@register.filter
def period_before(body: Body) -> str:
    """Return what the p95 of a lane is held against: "week 47", "October", "22 Nov"."""
    before = _local(body.begins, body.zone) - timedelta(hours=1)
    if body.period == "week":
        return gettext("week %(n)d") % {"n": before.isocalendar().week}
    if body.period == "month":
        return date_format(before, pgettext("date format of a month without its year", "F"))
    return date_format(before, pgettext("date format of a day", "j M"))


@register.filter
def moment(value: str) -> datetime:
    """Return a time of a report's body as a time."""
    return datetime.fromisoformat(value)


@register.filter
def for_seconds(seconds: int) -> str:
    """Return a length that is 0 or a span: "58 min"."""
    return clock.span(timedelta(seconds=seconds)) if seconds else "0"


@register.filter
def against_before(lane: LaneLine) -> str:
    """Say how a lane's p95 compares with the period before: "same", "11 % faster"; a dash where unknown."""
    if not lane.p95_ms or not lane.p95_before_ms:
        return "—"
    ratio = lane.p95_ms / lane.p95_before_ms
    if 1 / SAME_WITHIN <= ratio <= SAME_WITHIN:
        return pgettext("latency", "same")
    change = ratio - 1
    sentence = gettext("%(n)s slower") if change > 0 else gettext("%(n)s faster")
    return sentence % {"n": f"{abs(change) * 100:.0f}{clock.THIN}%"}


@register.filter
def lane_said(lane: LaneLine) -> str:
    """Return the name of a lane's kind, as its framework calls it."""
    return words.lane_name(lane.kind, lane.generation)


@register.filter
def lanes_shown(body: Body) -> Sequence[LaneLine]:
    """Return the lanes that a page lists: all in the order of the board, or the worst of very many."""
    return body.lanes if len(body.lanes) <= PAGE_LANES else body.worst_first[:PAGE_LANES]


@register.filter
def longest_lane(body: Body) -> str:
    """Return the profile and lane of the longest outage, empty for none."""
    if body.longest_lane is None:
        return ""
    lane = body.lanes[body.longest_lane]
    return f"{lane.profile} {lane_said(lane)}"


@register.filter
def reason_title(code: str) -> str:
    """Return the title of a reason, a dash for none."""
    return dictionary.entry(code).title if code else "—"


@register.filter
def first_fix(code: str) -> str:
    """Return the first step of a reason's fix."""
    return next(iter(dictionary.entry(code).fix), "")


@register.filter
def broke_said(broke: Broke) -> str:
    """Return the title of an incident: cause, and what it is of."""
    title = reason_title(broke.reason)
    return gettext("%(cause)s, %(where)s") % {"cause": title, "where": broke.where} if broke.where else title


@register.filter
def stale_said(taken: Taken) -> str:
    """Say what is wrong with the bundle that somebody holds."""
    if taken.stale == "key":
        return gettext("holds a key that is no longer in use")
    if taken.stale == "version":
        return gettext("version %(newest)d is newer") % {"newest": taken.newest_version}
    return ""


@register.filter
def todo_said(todo: ToDo) -> str:
    """Say what a person should do."""
    return _TODO[What(todo.what)](todo)


def _rotate(todo: ToDo) -> str:
    expires = datetime.fromisoformat(todo.at)
    return gettext("Rotate key %(name)s v%(number)d, which expires on %(day)s.") % {
        "name": todo.name, "number": todo.number, "day": clock.day(expires),
    }  # fmt: skip


_TODO: dict[What, Callable[[ToDo], str]] = {
    What.TAKE_INCIDENT: lambda todo: (
        gettext("Take incident %(number)d: %(cause)s.")
        % {"number": todo.number, "cause": reason_title(todo.reason)}
    ),
    What.MEND_LANE: lambda todo: (
        gettext("Mend lane %(lane)s: %(cause)s.")
        % {"lane": _lane_of(todo), "cause": reason_title(todo.reason)}
    ),
    What.ROTATE_KEY: _rotate,
    What.REPLACE_BUNDLE: lambda todo: (
        gettext("Give %(name)s a new bundle of %(profile)s: its key is dead.")
        % {"name": todo.name, "profile": todo.of}
    ),
    What.SPEED_UP: lambda todo: (
        gettext("Ease the load of lane %(lane)s: its p95 of %(p95)s is over its limit.")
        % {"lane": _lane_of(todo), "p95": clock.milliseconds(todo.number)}
    ),
    What.SEE_TO_CHECKS: lambda todo: (
        gettext("See why lane %(lane)s was often not seen.") % {"lane": _lane_of(todo)}
    ),
}


def _lane_of(todo: ToDo) -> str:
    return f"{todo.name} {words.lane_name(todo.kind, todo.generation)}"


@register.filter
def told_said(notices: Sequence[Any]) -> str:
    """Say which channels were told, and how it went with each: "ops: sent, board: queued"."""
    pair = gettext("%(name)s: %(state)s")
    return words.listed(
        [pair % {"name": each.channel.name, "state": each.get_state_display()} for each in notices]
    )


@register.filter
def plain(text: object) -> str:
    """Return a name for a chat: nothing in it can begin a link, a mention or emphasis, or end the line."""
    return " ".join(unmarked(str(text)).split())


@register.filter
def left_after(items: Sequence[object], most: int) -> int:
    """Return how many items are left out where at most so many are shown."""
    return max(0, len(items) - most)


@register.filter
def lanes_left(body: Body) -> int:
    """Return how many lanes a page leaves out."""
    return left_after(body.lanes, PAGE_LANES)


@register.simple_tag
def report_bars(lane: LaneLine, body: Body) -> SafeString:
    """Return a lane's period as bars, read out as one sentence."""
    states = [STATES[letter] for letter in lane.bars]
    spells = [
        drawing.Spell(states[first], first, last, _title(states[first]))
        for first, last in _unbroken(states)
        if states[first]
    ]
    label = gettext("%(profile)s, %(lane)s: available %(share)s, down %(down)s, degraded %(degraded)s") % {
        "profile": lane.profile, "lane": lane_said(lane), "share": clock.percent(lane.available),
        "down": for_seconds(lane.down_s), "degraded": for_seconds(lane.degraded_s),
    }  # fmt: skip
    return drawing.bars(spells, len(states), label)


class MailBar(NamedTuple):
    """One cell of a mail's bars: colour and height in pixels."""

    colour: str
    height: int


@register.filter
def mail_bars(lane: LaneLine) -> list[MailBar]:
    """Return at most `MAIL_BARS` cells, each the worst of the bars that it stands for."""
    states = [STATES[letter] for letter in lane.bars]
    size = -(-len(states) // MAIL_BARS) or 1
    cells = [rollups.worst(states[start : start + size]) for start in range(0, len(states), size)]
    return [MailBar(MAIL_COLOURS[cell], round(18 * drawing.HEIGHTS.get(cell, 0.1))) for cell in cells]


def _title(state: str) -> str:
    return "" if state == "ok" else words.state_word(state)


def _unbroken(states: Sequence[str]) -> list[tuple[int, int]]:
    ends = [n for n in range(len(states)) if n + 1 == len(states) or states[n + 1] != states[n]]
    return list(zip([0, *(end + 1 for end in ends[:-1])], ends, strict=True)) if ends else []


def _local(value: str | datetime, zone: str) -> datetime:
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    return at.astimezone(ZoneInfo(zone))


@register.filter
def schedule_said(schedule: Any) -> str:
    """Say when a report comes: "each Monday at 08:00"."""
    at = f"{schedule.hour:02d}:00"
    if schedule.period == "week":
        return gettext("weekly, on %(weekday)s at %(time)s") % {
            "weekday": weekday_name(schedule.weekday), "time": at,
        }  # fmt: skip
    if schedule.period == "month":
        return gettext("monthly, on day %(day)d at %(time)s") % {"day": schedule.day, "time": at}
    return gettext("daily, at %(time)s") % {"time": at}


def weekday_name(number: int) -> str:
    """Return the name of a weekday, 0 for Monday."""
    return date_format(datetime(2024, 1, 1 + number), "l")  # noqa: DTZ001 - a Monday, whatever the zone
