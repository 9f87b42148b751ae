"""What people say of themselves, their team and their colleagues."""

from __future__ import annotations

from typing import Any, cast
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from panel.models import Role

PASSWORD_HELP = _("At least 10 characters; a sentence is easier to keep than a riddle.")


def _password() -> forms.PasswordInput:
    return forms.PasswordInput(attrs={"autocomplete": "new-password"})


class SetUpForm(forms.Form):
    """The first owner and the first team."""

    team_name = forms.CharField(label=_("Team name"), max_length=80)
    name = forms.CharField(
        label=_("Your name"), max_length=80, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    email = forms.EmailField(
        label=_("E-mail address"),
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
        help_text=_("You sign in with it."),
    )
    password = forms.CharField(label=_("Password"), strip=False, widget=_password(), help_text=PASSWORD_HELP)


class AcceptForm(forms.Form):
    """A new account for the address that was invited."""

    name = forms.CharField(
        label=_("Your name"), max_length=80, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    password = forms.CharField(label=_("Password"), strip=False, widget=_password(), help_text=PASSWORD_HELP)


class JoinForm(forms.Form):
    """Somebody with an account joins; there is nothing to fill in."""


class TeamForm(forms.Form):
    """A further team."""

    name = forms.CharField(label=_("Team name"), max_length=80)


class RetentionForm(forms.Form):
    """For how many days a team keeps its past."""

    runs_days = forms.IntegerField(
        label=_("Days that runs are kept"), min_value=1, max_value=400,
        help_text=_("Each run takes about 200 bytes, a failed one some kilobytes."),
    )  # fmt: skip
    hours_days = forms.IntegerField(
        label=_("Days that hours are kept"), min_value=31, max_value=3660,
        help_text=_("Ranges of up to 30 days are drawn from hours. Days are kept for five years."),
    )  # fmt: skip


class MemberForm(forms.Form):
    """Somebody for the team, by address; `highest` is the role of who adds them."""

    email = forms.EmailField(label=_("E-mail address"))
    role = forms.TypedChoiceField(
        label=_("Role"), coerce=lambda value: Role(int(value)), initial=Role.ENGINEER
    )

    def __init__(self, *args: Any, highest: int, **options: Any) -> None:
        super().__init__(*args, **options)
        _offer_roles(self.fields["role"], highest)


class RoleForm(forms.Form):
    """Another role for a colleague."""

    role = forms.TypedChoiceField(label=_("Role"), coerce=lambda value: Role(int(value)))

    def __init__(self, *args: Any, highest: int, **options: Any) -> None:
        super().__init__(*args, **options)
        _offer_roles(self.fields["role"], highest)


class MeForm(forms.Form):
    """A person's own settings; theme and shortcuts live in this browser alone."""

    name = forms.CharField(label=_("Name"), max_length=80)
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=[("", _("as the browser")), ("en", "English"), ("zh-hans", "简体中文")],
    )
    zone = forms.ChoiceField(label=_("Time zone"), required=False)
    theme = forms.ChoiceField(
        label=_("Theme"),
        required=False,
        choices=[
            ("", pgettext_lazy("theme", "as the system")),
            ("light", pgettext_lazy("theme", "light")),
            ("dark", pgettext_lazy("theme", "dark")),
        ],
    )
    shortcuts = forms.BooleanField(
        label=_("Keyboard shortcuts"), required=False, help_text=_("Single keys, off while you type.")
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        zones = cast(forms.ChoiceField, self.fields["zone"])
        own = _("as this instance, %(zone)s") % {"zone": settings.DISPLAY_ZONE}
        zones.choices = [("", own), *((name, name) for name in sorted(available_timezones()))]


def _offer_roles(field: forms.Field, highest: int) -> None:
    choice = cast(forms.ChoiceField, field)
    choice.choices = [(value, label) for value, label in Role.choices if value <= highest]
