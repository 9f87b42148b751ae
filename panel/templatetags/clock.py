"""How times, spans of time and numbers are written, in the reader's zone and language."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext, pgettext

THIN = "\u2009"


def when(value: datetime | None, now: datetime | None = None) -> SafeString:
    """Return a time element: "25 min ago" within the hour, "14:00" today, else "23 Nov"; a dash for None."""
    if value is None:
        return SafeString("—")
    now = now or timezone.now()
    if timedelta(0) <= now - value < timedelta(hours=1):
        words = gettext("%(span)s ago") % {"span": span(now - value)}
    else:
        words = _clock_or_day(value, now)
    return _element(value, words)


def at(value: datetime | None, now: datetime | None = None) -> SafeString:
    """Return a time element that names the time itself: "14:00" today, else "23 Nov, 14:00"."""
    if value is None:
        return SafeString("—")
    local, today = timezone.localtime(value), timezone.localtime(now or timezone.now()).date()
    words = local.strftime("%H:%M")
    if local.date() != today:
        words = gettext("%(day)s, %(time)s") % {"day": day(value, now), "time": words}
    return _element(value, words)


def precise(value: datetime | None) -> SafeString:
    """Return a time element to the second: "14:24:40", for what happened just now or on a run."""
    if value is None:
        return SafeString("—")
    return _element(value, timezone.localtime(value).strftime("%H:%M:%S"))


def day(value: datetime, now: datetime | None = None) -> str:
    """Return "23 Nov", with the year when it is another one."""
    local = timezone.localtime(value)
    same_year = local.year == timezone.localtime(now or timezone.now()).year
    wanted = (
        pgettext("date format of a day", "j M") if same_year else pgettext("date format of a day", "j M Y")
    )
    return date_format(local, wanted)


def span(length: timedelta | None) -> str:
    """Return a span of time in its largest fitting unit: "30 s", "25 min", "1 h 30 min", "3 days"."""
    if length is None:
        return "—"
    seconds = max(0, int(length.total_seconds()))
    if seconds < 60:
        return gettext("%(n)d s") % {"n": seconds}
    minutes = seconds // 60
    if minutes < 60:
        return gettext("%(n)d min") % {"n": minutes}
    hours, rest = divmod(minutes, 60)
    if hours < 24:
        return _hours(hours, rest)
    days = hours // 24
    return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}


def _hours(hours: int, minutes: int) -> str:
    if minutes and hours < 10:
        return gettext("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes}
    return gettext("%(hours)d h") % {"hours": hours}


def ahead(value: datetime, now: datetime | None = None) -> str:
    """Return how far off a future time is, or that it has passed: "in 6 days", "expired 14:00"."""
    now = now or timezone.now()
    if value <= now:
        return gettext("expired %(when)s") % {"when": _clock_or_day(value, now)}
    return gettext("in %(span)s") % {"span": span(value - now)}


def milliseconds(value: float | None) -> str:
    """Return "288 ms" below a second, else seconds with three digits: "1.24 s"; a dash for None."""
    if value is None:
        return "—"
    if value < 999.5:
        return f"{value:.1f}{THIN}ms" if value < 0.95 else f"{value:.0f}{THIN}ms"
    seconds = value / 1000
    digits = 2 if seconds < 10 else 1 if seconds < 100 else 0
    return f"{seconds:.{digits}f}{THIN}s"


def scale(top: float) -> list[str]:
    """Return the labels of five lines from `top` milliseconds down to zero; the unit stands at the first."""
    unit, name = (1000, "s") if top >= 1000 else (1, "ms")
    steps = [f"{top * quarter / 4 / unit:g}" for quarter in (4, 3, 2, 1, 0)]
    return [f"{steps[0]}{THIN}{name}", *steps[1:]]


def seconds(value: int | None) -> str:
    """Return an interval as it is spoken of: "60 s", "5 min", "1 h"."""
    if value is None:
        return "—"
    if value <= 120:
        return gettext("%(n)d s") % {"n": value}
    return span(timedelta(seconds=value))


def percent(share: float | None) -> str:
    """Return a share as "98.26 %", cut and not rounded, so that 100 means all; a dash for nothing seen."""
    if share is None:
        return "—"
    if share >= 1:
        return f"100{THIN}%"
    text = f"{int(share * 10_000) / 100:.2f}".rstrip("0").rstrip(".")
    return f"{text}{THIN}%"


def share(value: float | None, observed: int) -> str:
    """Return a share of so many observations as percent, with no more digits than they carry."""
    if value is None or value >= 1:
        return percent(value)
    digits = min(2, max(0, len(str(observed)) - 3))  # of 1,000 one is a tenth of a percent
    scale = 10**digits
    text = f"{int(value * 100 * scale + 1e-9) / scale:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text}{THIN}%"


def tokens(count: int | None) -> str:
    """Return "0", "940", "9.1k", "412k"."""
    if count is None:
        return "—"
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 10_000 else f"{count // 1000}k"


def _clock_or_day(value: datetime, now: datetime) -> str:
    local = timezone.localtime(value)
    if local.date() == timezone.localtime(now).date():
        return local.strftime("%H:%M")
    return day(value, now)


def _element(value: datetime, words: str) -> SafeString:
    local = timezone.localtime(value)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        full(value),
        words,
    )


def full(value: datetime) -> str:
    """Return "2026-11-30 14:25:10 +08:00", the form for evidence and exports."""
    local = timezone.localtime(value)
    offset = local.strftime("%z")
    return f"{local:%Y-%m-%d %H:%M:%S} {offset[:3]}:{offset[3:5]}"


def zone(value: datetime) -> str:
    """Return the zone that times are shown in, with its offset then: "Asia/Shanghai, UTC+8"."""
    local = timezone.localtime(value)
    offset = local.utcoffset() or timedelta()
    hours, minutes = divmod(abs(int(offset.total_seconds())) // 60, 60)
    sign = "−" if offset < timedelta() else "+"
    shown = f"UTC{sign}{hours}" + (f":{minutes:02d}" if minutes else "")
    name = timezone.get_current_timezone_name()
    if name == "UTC":
        return "UTC"
    return gettext("%(zone)s, %(offset)s") % {"zone": name, "offset": shown}
