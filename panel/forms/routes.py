"""What leads say of routes: which incidents reach which channel, and when."""

from __future__ import annotations

from typing import Any, cast
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from panel.actions.channels import RouteDraft
from panel.models import Channel, Profile, Route

MOST_MINUTES = 1440
STATES = (
    ("down", pgettext_lazy("state", "Down")),
    ("degraded", pgettext_lazy("state", "Degraded")),
    ("unknown", pgettext_lazy("state", "Unknown")),
)
CLOCK = {"type": "time"}


class ChannelChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # not generic when it runs
    """One of the team's channels, by its code."""

    def __init__(self, **options: Any) -> None:
        super().__init__(queryset=Channel.objects.none(), to_field_name="code", empty_label=None, **options)


class RouteForm(forms.Form):
    """A route. No environment or no state chosen means all of them."""

    channel = ChannelChoice(label=_("Channel"))
    environments = forms.MultipleChoiceField(
        label=_("Environments"),
        choices=Profile.Environment.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen means all."),
    )
    states = forms.MultipleChoiceField(
        label=_("States"),
        choices=STATES,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("The worst that the incident came to. None chosen means all."),
    )
    after_min = forms.IntegerField(
        label=_("After, minutes"),
        min_value=0,
        max_value=MOST_MINUTES,
        initial=0,
        help_text=_("0 tells at once. Otherwise it is told only when nobody took the incident for so long."),
    )
    quiet_from = forms.TimeField(
        label=_("Quiet from"), required=False, widget=forms.TimeInput(attrs=CLOCK, format="%H:%M")
    )
    quiet_to = forms.TimeField(
        label=_("Quiet until"),
        required=False,
        widget=forms.TimeInput(attrs=CLOCK, format="%H:%M"),
        help_text=_("In this time it waits for the end, unless a lane is down."),
    )
    quiet_all = forms.BooleanField(label=_("Quiet also for what is down"), required=False)
    zone = forms.ChoiceField(label=_("Time zone"))

    def __init__(self, *args: Any, channels: QuerySet[Channel], **options: Any) -> None:
        super().__init__(*args, **options)
        cast(ChannelChoice, self.fields["channel"]).queryset = channels
        zones = cast(forms.ChoiceField, self.fields["zone"])
        zones.choices = [(name, name) for name in sorted(available_timezones())]
        self.initial.setdefault("zone", settings.DISPLAY_ZONE)

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if (said.get("quiet_from") is None) != (said.get("quiet_to") is None):
            raise ValidationError({"quiet_to": _("Give both times of the quiet, or none.")})
        if said.get("quiet_from") is not None and said["quiet_from"] == said["quiet_to"]:
            raise ValidationError({"quiet_to": _("The quiet ends when it begins. Give another time.")})
        return said

    def draft(self) -> RouteDraft:
        """Return the route as the action takes it; call it after `is_valid`."""
        return RouteDraft(**self.cleaned_data)


def initial_of(route: Route) -> dict[str, Any]:
    """Return a route as its form shows it."""
    names = ("environments", "states", "after_min", "quiet_from", "quiet_to", "quiet_all", "zone")
    return {name: getattr(route, name) for name in names} | {"channel": route.channel.code}
