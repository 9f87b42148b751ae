"""What people say about an incident: a note, who is to have it, for how long it is kept quiet."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from panel.actions.incidents import NOTE_CAP
from panel.models import Membership

MUTE_HOURS = (
    (1, _("1 hour")),
    (4, _("4 hours")),
    (24, _("1 day")),
    (72, _("3 days")),
    (168, _("7 days")),
)


class NoteForm(forms.Form):
    """A note for the timeline: plain text, shown as it was written."""

    text = forms.CharField(
        label=_("Add a note"),
        max_length=NOTE_CAP,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": _("What did you see or do?")}),
    )


class Colleague(forms.ModelChoiceField):  # type: ignore[type-arg]  # not generic when it runs
    """One of the team's members, by the code of the membership."""

    def label_from_instance(self, obj: Any) -> str:
        return str(obj.user)


class HandOverForm(forms.Form):
    """Who is to have the incident."""

    to = Colleague(
        label=_("Hand over to"),
        queryset=Membership.objects.none(),
        to_field_name="code",
        empty_label=_("choose a colleague"),
    )

    def __init__(self, *args: Any, takers: QuerySet[Membership], **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["to"].queryset = takers  # type: ignore[attr-defined]


class MuteForm(forms.Form):
    """For how many hours nobody is told."""

    hours = forms.TypedChoiceField(label=_("Mute for"), choices=MUTE_HOURS, coerce=int)
