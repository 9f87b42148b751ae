"""What people say when they stop checks, or expect failures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from panel.actions.maintenance import MaintenanceDraft
from panel.forms.rhythm import CronField, ZoneField
from panel.models import Lane, Profile

MINUTE = 60
EVERY_LANE = "all"
THE_TEAM, THE_PROFILE, THE_HOST = "team", "profile", "host"


class MomentField(forms.DateTimeField):
    """A day and time, in the reader's zone."""

    def __init__(self, **options: Any) -> None:
        clock = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
        super().__init__(widget=clock, **options)


class ReasonField(forms.CharField):
    """Why, in a line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(label=_("Reason"), max_length=300, **options)


class PauseForm(forms.Form):
    """Stop the scheduled checks of one lane or of all."""

    lane = forms.ChoiceField(label=_("Lanes"))
    reason = ReasonField(help_text=_("Stands beside the lane, for whoever wonders."))
    until = MomentField(
        label=_("Until"), required=False, help_text=_("Empty: until somebody resumes the checks.")
    )

    def __init__(self, *args: Any, lanes: Sequence[Lane], **options: Any) -> None:
        super().__init__(*args, **options)
        self.lanes = {lane.kind: lane for lane in lanes if lane.in_use}
        choice: Any = self.fields["lane"]
        named = [(kind, lane.get_kind_display()) for kind, lane in self.lanes.items()]
        choice.choices = [(EVERY_LANE, _("All lanes in use")), *named]

    def chosen(self) -> list[Lane]:
        """Return the lanes that are meant."""
        kind = self.cleaned_data["lane"]
        return list(self.lanes.values()) if kind == EVERY_LANE else [self.lanes[kind]]


class MaintenanceForm(forms.Form):
    """Say when failures are expected: once, or again and again by cron."""

    scope = forms.ChoiceField(label=_("Of what"))
    reason = ReasonField(help_text=_("Such as: the relay moves to another cluster."))
    starts_at = MomentField(label=_("Starts"), required=False, help_text=_("Empty: now."))
    ends_at = MomentField(label=_("Ends"), help_text=_("At most a year from its start."))
    cron = CronField(
        label=_("Comes again by cron"),
        help_text=_("Between start and end: minute, hour, day, month, weekday."),
    )
    zone = ZoneField(label=_("Time zone"), initial="UTC", help_text=_("Of the cron."))
    duration_min = forms.IntegerField(
        label=_("Minutes each time"),
        required=False,
        min_value=1,
        max_value=7 * 24 * 60,
        help_text=_("With a cron alone."),
    )

    def __init__(self, *args: Any, profile: Profile, **options: Any) -> None:
        super().__init__(*args, **options)
        self.profile = profile
        self.lanes = {lane.kind: lane for lane in profile.lanes.all() if lane.in_use}
        recipe = getattr(profile, "recipe", None)
        self.host = recipe.host if recipe else None
        choice: Any = self.fields["scope"]
        choice.choices = list(self._scopes())

    def draft(self) -> MaintenanceDraft:
        """Return the maintenance as the action takes it."""
        said, scope = self.cleaned_data, self.cleaned_data["scope"]
        starts_at: datetime | None = said["starts_at"]
        return MaintenanceDraft(
            reason=said["reason"],
            starts_at=starts_at,
            ends_at=said["ends_at"],
            profile=self.profile if scope == THE_PROFILE else None,
            lane=self.lanes.get(scope),
            host=self.host if scope == THE_HOST else None,
            cron=" ".join(said["cron"].split()),
            zone=said["zone"],
            duration_s=(said["duration_min"] or 0) * MINUTE,
        )

    def _scopes(self) -> Any:
        yield THE_PROFILE, _("the whole profile, %(name)s") % {"name": self.profile.name}
        for kind, lane in self.lanes.items():
            yield kind, _("its lane %(name)s") % {"name": lane.get_kind_display()}
        if self.host is not None:
            yield THE_HOST, _("host %(name)s, and all lanes on it") % {"name": self.host.name}
        yield THE_TEAM, _("all lanes of the team")
