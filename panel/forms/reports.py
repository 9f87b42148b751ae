"""When a report comes, and to whom."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any, cast
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.formats import date_format
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy as _

from panel.models import Channel, ReportSchedule


def _weekday(number: int) -> str:
    return date_format(date(2024, 1, 1 + number), "l")  # the first of January 2024 was a Monday


class PreviewForm(forms.Form):
    """Which period under way to look at; lives in the address."""

    period = forms.ChoiceField(label=_("Period"), choices=ReportSchedule.Period.choices)
    zone = forms.ChoiceField(label=_("Time zone"))

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        cast(forms.ChoiceField, self.fields["zone"]).choices = _zones()


class ScheduleForm(forms.Form):
    """A standing order for a report. A weekly one uses the weekday, a monthly one the day of the month."""

    period = forms.ChoiceField(
        label=_("Period"),
        choices=ReportSchedule.Period.choices,
        initial=ReportSchedule.Period.WEEK,
        help_text=_("It covers the last whole day, week from Monday to Sunday, or month."),
    )
    hour = forms.TypedChoiceField(
        label=_("Time"), coerce=int, choices=[(hour, f"{hour:02d}:00") for hour in range(24)], initial=8
    )
    weekday = forms.TypedChoiceField(
        label=_("Weekday"),
        coerce=int,
        choices=[(number, lazy(_weekday, str)(number)) for number in range(7)],
        initial=0,
        help_text=_("for a weekly report"),
    )
    day = forms.IntegerField(
        label=_("Day of the month"),
        min_value=1,
        max_value=31,
        initial=1,
        help_text=_("for a monthly report; in a shorter month its last day"),
    )
    zone = forms.ChoiceField(label=_("Time zone"), initial=settings.DISPLAY_ZONE)
    channels = forms.MultipleChoiceField(
        label=_("Channels"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Each gets it in its own language. Without any it is kept here alone."),
    )

    def __init__(self, *args: Any, channels: Iterable[Channel], **options: Any) -> None:
        super().__init__(*args, **options)
        offered = cast(forms.MultipleChoiceField, self.fields["channels"])
        offered.choices = [(channel.code, channel.name) for channel in channels]
        cast(forms.ChoiceField, self.fields["zone"]).choices = _zones()


def _zones() -> list[tuple[str, str]]:
    return [(name, name) for name in sorted(available_timezones())]
