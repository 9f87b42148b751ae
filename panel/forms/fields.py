"""Form fields for the two values that people paste: base URLs and keys."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from checks.addresses import AddressError, CleanUrl, clean_base_url
from checks.keys import CleanKey, KeyRefused, clean_key
from panel.forms.sentences import address_sentence, edit_sentence, key_sentence


class BaseUrlField(forms.CharField):
    """Cleans to a `CleanUrl`, or to None when empty and not required.

    A refusal carries the base URLs that would be accepted as `params["suggestions"]`.
    """

    def __init__(self, **options: Any) -> None:
        plain = forms.TextInput(
            attrs={
                "class": "mono", "autocomplete": "off", "spellcheck": "false", "inputmode": "url",
                "placeholder": "https://relay.example/v1",
            }
        )  # fmt: skip
        super().__init__(widget=plain, strip=False, **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text.strip() and not self.required:
            return None
        try:
            return clean_base_url(text)
        except AddressError as error:
            raise ValidationError(
                address_sentence(error), code=error.problem.value, params={"suggestions": error.suggestions}
            ) from None


class KeyField(forms.CharField):
    """Cleans to a `CleanKey`, or to None when empty and not required. Never shown again."""

    marks_optional = False  # whether it may be left out depends on what stands beside it

    def __init__(self, **options: Any) -> None:
        sealed = forms.PasswordInput(
            render_value=False, attrs={"class": "mono", "autocomplete": "off", "spellcheck": "false"}
        )
        super().__init__(widget=sealed, strip=False, **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text and not self.required:
            return None
        try:
            return clean_key(text)
        except KeyRefused as error:
            raise ValidationError(key_sentence(error), code=error.problem.value) from None


class ExpiryField(forms.DateField):
    """A day, cleaned to its last second in the reader's zone; a key holds good through that day."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"), **options)

    def clean(self, value: Any) -> Any:
        day: date | None = super().clean(value)
        return None if day is None else timezone.make_aware(datetime.combine(day, time(23, 59, 59)))


def edits_of(*values: CleanUrl | CleanKey | None) -> list[str]:
    """Return a sentence for each thing that was changed in what was pasted."""
    return [edit_sentence(edit) for value in values if value is not None for edit in value.edits]


def suggestions_of(form: forms.BaseForm, field: str) -> tuple[str, ...]:
    """Return the base URLs that a refusal offers instead of what was typed."""
    for error in form.errors.as_data().get(field, []):
        offered = (error.params or {}).get("suggestions", ())
        if offered:
            return tuple(offered)
    return ()
