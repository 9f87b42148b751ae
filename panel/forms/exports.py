"""What people want in a bundle."""

from __future__ import annotations

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from panel.models import Lane

FLAVOURS: dict[str, tuple[str | Promise, str | Promise]] = {
    "dotenv": (".env", _("python-dotenv, direnv, uv")),
    "line": (_(".env for docker"), _("no quotes, --env-file")),
    "toml": ("TOML", _("[llm] and [rollout] tables, read with tomllib")),
    "sh": (_("Shell"), _("export lines for bash and zsh")),
}


class ExportForm(forms.Form):
    """Format, keys and lanes; lives in the address, so that a preview can be sent to a colleague."""

    flavour = forms.ChoiceField(
        label=_("Format"), choices=[(name, words[0]) for name, words in FLAVOURS.items()], initial="dotenv"
    )
    with_keys = forms.TypedChoiceField(
        label=_("Keys"),
        choices=[("no", _("Names only")), ("yes", _("With keys"))],
        coerce=lambda value: value == "yes",
    )
    lanes = forms.MultipleChoiceField(label=_("Lanes"), choices=Lane.Kind.choices)

    def __init__(self, data: QueryDict, *, lanes: list[str], may_take_keys: bool) -> None:
        super().__init__(_with_defaults(data, lanes))
        self.fields["lanes"].choices = [pair for pair in Lane.Kind.choices if pair[0] in lanes]  # type: ignore[attr-defined]
        if not may_take_keys:
            self.fields["with_keys"].choices = [("no", _("Names only"))]  # type: ignore[attr-defined]

    @property
    def flavours(self) -> list[tuple[str, str | Promise, str | Promise]]:
        """Return each flavour with its name and who reads it."""
        return [(name, *words) for name, words in FLAVOURS.items()]


def _with_defaults(data: QueryDict, lanes: list[str]) -> QueryDict:
    """What the address does not say is chosen as most people would."""
    full = data.copy()
    full.setdefault("flavour", "dotenv")
    full.setdefault("with_keys", "no")
    if "lanes" not in full:
        full.setlist("lanes", lanes)
    return full
