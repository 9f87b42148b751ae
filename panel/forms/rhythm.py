"""When a lane is checked, as part of its form: cron, zone, quiet hours, and how often while it fails."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from panel.actions import Refused
from panel.actions import rhythm as deeds
from panel.actions.rhythm import Rhythm
from panel.models import Check

RHYTHM = ("cron", "zone", "quiet_from", "quiet_to", "retest_s")
RETESTS = (0, 10, 30, 60, 300)
RETEST_CHOICES = (
    (0, _("as usual")),
    (10, _("every 10 s")),
    (30, _("every 30 s")),
    (60, _("every minute")),
    (300, _("every 5 minutes")),
)


class CronField(forms.CharField):
    """A cron expression of five fields; empty where it may be left out."""

    def __init__(self, **options: Any) -> None:
        plain = forms.TextInput(
            attrs={
                "class": "mono", "autocomplete": "off", "spellcheck": "false", "placeholder": "30 9 * * 1-5",
            }
        )  # fmt: skip
        super().__init__(max_length=100, required=False, widget=plain, **options)


class ZoneField(forms.CharField):
    """The name of a time zone; the page offers them all as `<datalist id="zones">`."""

    marks_optional = False

    def __init__(self, **options: Any) -> None:
        plain = forms.TextInput(attrs={"list": "zones", "autocomplete": "off", "spellcheck": "false"})
        super().__init__(max_length=64, required=False, empty_value="UTC", widget=plain, **options)

    def clean(self, value: Any) -> Any:
        name = super().clean(value)
        if name not in available_timezones():
            raise ValidationError(_("There is no such time zone."))
        return name


class ClockField(forms.TimeField):
    """A time of day, to the minute."""

    def __init__(self, **options: Any) -> None:
        clock = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
        super().__init__(required=False, widget=clock, **options)


class RetestField(forms.TypedChoiceField):
    """A number of seconds out of a list; None where a form says nothing of it."""

    marks_optional = False

    def __init__(self, **options: Any) -> None:
        super().__init__(coerce=int, required=False, empty_value=None, **options)


class RhythmForm(forms.Form):
    """The fields of a rhythm. `interval_s` is declared by the form that uses them."""

    cron = CronField(
        label=_("Or by cron"), help_text=_("Minute, hour, day, month, weekday. Takes the interval's place.")
    )
    zone = ZoneField(label=_("Time zone"), initial="UTC", help_text=_("Of the cron and the quiet hours."))
    quiet_from = ClockField(label=_("Quiet from"), help_text=_("Nothing runs, and nothing counts as missed."))
    quiet_to = ClockField(label=_("Quiet until"))
    retest_s = RetestField(label=_("While it fails"), choices=RETEST_CHOICES, initial=deeds.DEFAULT_RETEST_S)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        kept = self.initial.get("retest_s", deeds.DEFAULT_RETEST_S)
        if kept not in RETESTS:  # set by other means than this form: offered, so that saving keeps it
            choice: Any = self.fields["retest_s"]
            choice.choices = [*RETEST_CHOICES, (kept, _("every %(n)d s") % {"n": kept})]

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = self.cleaned_data
        wanted = self.rhythm()
        if wanted is None or any(name in self.errors for name in (*RHYTHM, "interval_s")):
            return said
        try:
            deeds.apply(Check(lane_id=0, interval_s=said.get("interval_s") or 300), wanted)
        except Refused as refused:
            self.add_error(refused.field, str(refused.sentence))
        return said

    def rhythm(self) -> Rhythm | None:
        """Return what the form says; None where it was sent without these fields, which leaves what is
        stored."""
        if self.add_prefix("zone") not in self.data:
            return None
        return Rhythm(
            **{
                name: self.cleaned_data.get(name, Rhythm.__dataclass_fields__[name].default)
                for name in RHYTHM
            }
        )


def initial_rhythm(order: Check) -> dict[str, Any]:
    """Return the rhythm of a standing check as the form shows it."""
    return {name: getattr(order, name) for name in RHYTHM} | {"retest_s": order.retest_s or 0}
