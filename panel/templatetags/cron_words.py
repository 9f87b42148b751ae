"""Cron in the reader's language, for the expressions that people write; the others stand for themselves."""

from __future__ import annotations

from django.utils.dates import MONTHS, WEEKDAYS
from django.utils.translation import gettext, npgettext

from panel.templatetags.words import listed

MOST_TIMES = 6
_SUNDAY = 7


def cron_words(expression: str) -> str:
    """Return "Monday to Friday, at 09:30"; empty for an expression that has no plain words."""
    fields = expression.upper().split()
    if len(fields) != 5:
        return ""
    minute, hour, day, month, weekday = fields
    clock, often, days, months = (
        _clock(minute, hour),
        _often(minute, hour),
        _days(day, weekday),
        _months(month),
    )
    if not (clock or often) or days is None or months is None:
        return ""
    days = days or (gettext("every day") if clock else "")
    said = gettext("%(days)s, %(time)s") % {"days": days, "time": clock or often} if days else often
    return gettext("%(said)s, in %(months)s") % {"said": said, "months": months} if months else said


def _clock(minute: str, hour: str) -> str:
    """Return the times of day, where they are few."""
    minutes, hours = _numbers(minute), _numbers(hour)
    if not 0 < len(minutes) * len(hours) <= MOST_TIMES:
        return ""
    times = listed([f"{each:02d}:{at:02d}" for each in hours for at in minutes])
    return gettext("at %(times)s") % {"times": times}


def _often(minute: str, hour: str) -> str:
    """Return how often in a day, or in some hours of it."""
    often = _every_minutes(minute)
    if often and hour == "*":
        return often
    if often and _is_span(hour):
        first, last = hour.split("-")
        return gettext("%(often)s from %(first)s to %(last)s") % {
            "often": often, "first": f"{int(first):02d}:00", "last": f"{int(last):02d}:59",
        }  # fmt: skip
    minutes = _numbers(minute)
    return _every_hours(minutes[0], hour) if len(minutes) == 1 else ""


def _every_minutes(minute: str) -> str:
    if minute == "*":
        return gettext("every minute")
    step = minute.removeprefix("*/")
    if step == minute or not step.isdecimal():
        return ""
    return npgettext("rhythm", "every minute", "every %(n)d minutes", int(step)) % {"n": int(step)}


def _every_hours(minute: int, hour: str) -> str:
    step = 1 if hour == "*" else int(hour[2:]) if hour.startswith("*/") and hour[2:].isdecimal() else 0
    if not step:
        return ""
    counted = npgettext("rhythm", "every hour", "every %(n)d hours", step) % {"n": step}
    said = gettext("every hour") if step == 1 else counted  # no count where a language would count one
    return gettext("%(often)s at minute %(minute)d") % {"often": said, "minute": minute} if minute else said


def _days(day: str, weekday: str) -> str | None:
    """Return on which days; empty for every day, None for what has no plain words."""
    if day == weekday == "*":
        return ""
    if weekday == "*":
        return _days_of_month(day)
    if day != "*":
        return None  # cron means either of the two, which no short sentence says
    names = {"SUN": "0", "MON": "1", "TUE": "2", "WED": "3", "THU": "4", "FRI": "5", "SAT": "6"}
    for name, number in names.items():
        weekday = weekday.replace(name, number)
    if _is_span(weekday):
        first, last = (_weekday(int(end)) for end in weekday.split("-"))
        return gettext("%(first)s to %(last)s") % {"first": first, "last": last}
    numbers = _numbers(weekday)
    return listed([_weekday(each) for each in numbers]) if numbers else None


def _days_of_month(day: str) -> str | None:
    if day == "L":
        return gettext("on the last day of the month")
    numbers = _numbers(day)
    if not numbers:
        return None
    return gettext("on day %(days)s of the month") % {"days": listed([str(each) for each in numbers])}


def _months(month: str) -> str | None:
    if month == "*":
        return ""
    numbers = _numbers(month)
    return listed([str(MONTHS[each]) for each in numbers]) if numbers and max(numbers) in MONTHS else None


def _weekday(number: int) -> str:
    return str(WEEKDAYS[(number - 1) % _SUNDAY])


def _numbers(field: str) -> list[int]:
    parts = field.split(",")
    return [int(part) for part in parts] if all(part.isdecimal() for part in parts) else []


def _is_span(field: str) -> bool:
    ends = field.split("-")
    return len(ends) == 2 and all(end.isdecimal() for end in ends)
