"""What leads say of GPU hosts and of the keys that log in to them."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from checks.spec import Masked
from panel.actions.hosts import HostDraft
from panel.models import Host

INTERVAL_CHOICES = (
    (300, _("every 5 minutes")),
    (900, _("every 15 minutes")),
    (3600, _("every hour")),
    (21_600, _("every 6 hours")),
    (86_400, _("every day")),
)
LONGEST_PRIVATE_KEY = 16_384
MONO = {"class": "mono", "autocomplete": "off", "spellcheck": "false"}


class HostChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # not generic when it runs
    """One of the team's hosts, by its code, or none."""

    marks_optional = False  # the empty choice says what it means

    def __init__(self, **options: Any) -> None:
        super().__init__(queryset=Host.objects.none(), to_field_name="code", required=False, **options)

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.name} ({obj.address})"


class ShellText(forms.CharField):
    """One line that goes to a host as it stands: a path, a program, a shell line. Empty unless required."""

    def __init__(self, *, required: bool = False, **options: Any) -> None:
        super().__init__(required=required, widget=forms.TextInput(attrs=MONO), **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text.isprintable():
            raise ValidationError(_("This holds a line break or a control character. Type it again."))
        return text


class SealedTextarea(forms.Textarea):
    """A text area that takes a secret and never shows one, also not after a refusal."""

    def format_value(self, value: Any) -> str | None:
        return None


class HostForm(forms.Form):
    """A GPU machine reached by SSH."""

    name = forms.CharField(
        label=_("Name"), max_length=60, help_text=_("How your team calls it, such as gpu-a12.")
    )
    address = ShellText(
        label=_("Address"),
        max_length=255,
        required=True,
        help_text=_("A host name or an IP address, without user and port."),
    )
    port = forms.IntegerField(label=_("Port"), min_value=1, max_value=65_535, initial=22)
    user = ShellText(
        label=_("User"), max_length=32, required=True, help_text=_("Whose account runs your training.")
    )
    jump = HostChoice(label=_("Jump host"), empty_label=_("none: reached directly"))
    zone = ShellText(
        label=_("Zone"),
        max_length=40,
        help_text=_("The workers that can reach it. Empty: the panel's."),
    )
    python = ShellText(
        label=_("Python"), max_length=300, required=True, initial="python3", help_text=_("3.8 or newer.")
    )
    workdir = ShellText(
        label=_("Working directory"), max_length=500, help_text=_("Where your project lies, such as ~/grpo.")
    )
    activate = ShellText(
        label=_("Activate line"),
        max_length=500,
        help_text=_("A shell line that prepares the environment, such as conda activate agl."),
    )
    interval_s = forms.TypedChoiceField(
        label=_("Facts are read"), choices=INTERVAL_CHOICES, coerce=int, initial=3600
    )

    def __init__(self, *args: Any, hosts: QuerySet[Host], **options: Any) -> None:
        super().__init__(*args, **options)
        if not hosts:
            del self.fields["jump"]
        else:
            cast(HostChoice, self.fields["jump"]).queryset = hosts
        interval = cast(forms.TypedChoiceField, self.fields["interval_s"])
        kept = self.initial.get("interval_s", 3600)
        if kept not in dict(INTERVAL_CHOICES):  # set by other means than this form: saving keeps it
            interval.choices = [*INTERVAL_CHOICES, (kept, _("every %(n)d s") % {"n": kept})]

    def draft(self) -> HostDraft:
        """Return the host as the action takes it."""
        return HostDraft(**({"jump": None} | self.cleaned_data))


class HostKeyForm(forms.Form):
    """A private key that somebody made elsewhere; it is never shown again."""

    private = forms.CharField(
        label=_("Private key"),
        max_length=LONGEST_PRIVATE_KEY,
        strip=False,
        widget=SealedTextarea(attrs=MONO | {"rows": 6}),
        help_text=_("The whole file, with its BEGIN and END lines. Sealed on save, and never shown again."),
    )
    passphrase = forms.CharField(
        label=_("Passphrase"),
        max_length=1024,
        required=False,
        strip=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "off"}),
        help_text=_("Only to open the key now. It is not kept."),
    )

    @property
    def private_key(self) -> Masked:
        """The private key; call it after `is_valid`."""
        return Masked(self.cleaned_data["private"])

    @property
    def phrase(self) -> Masked | None:
        """What opens the private key, None where nothing was said."""
        phrase = self.cleaned_data["passphrase"]
        return Masked(phrase) if phrase else None


def initial_of(host: Host) -> dict[str, Any]:
    """Return a host as its form shows it."""
    plain = {name: getattr(host, name) for name in HostForm.base_fields if name != "jump"}
    return plain | {"jump": host.jump.code if host.jump else ""}
