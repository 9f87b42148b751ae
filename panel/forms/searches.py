"""What people look for: pasted error texts."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

LONGEST = 200_000  # characters: a traceback with all its frames


class ErrorTextForm(forms.Form):
    """An error text as somebody's client showed it. Sent by POST: such texts can hold keys."""

    text = forms.CharField(
        label=_("Error text"),
        max_length=LONGEST,
        widget=forms.Textarea(
            attrs={"rows": 5, "class": "mono", "spellcheck": "false", "autocomplete": "off"}
        ),
    )
