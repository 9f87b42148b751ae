"""What leads say of channels: each kind has fields of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator, validate_email
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from checks.addresses import AddressError, host_of, origin_of
from checks.hostnames import is_private
from checks.spec import Masked
from panel.actions.channels import ChannelDraft, row_has
from panel.forms.fields import KeyField
from panel.models import Channel

MOST_RECIPIENTS = 50
LONGEST_ADDRESS = 2048
SHORTEST_SIGN = 16
TELEGRAM, NTFY = "https://api.telegram.org", "https://ntfy.sh"
MONO = {"class": "mono", "autocomplete": "off", "spellcheck": "false"}
_WRITTEN: Final = re.compile(r"[!-~]+")
_NO_ADDRESS = _("This is no address of a server. Copy the whole of it, from https:// on.")
_NOT_PUBLIC = _("An address on the internet begins with https://.")
KINDS: Final = Channel.Kind
FIELDS: Final[dict[str, tuple[str, ...]]] = {
    KINDS.MAIL: ("to",),
    KINDS.WEBHOOK: ("address", "sign"),
    KINDS.SLACK: ("address",),
    KINDS.TEAMS: ("address",),
    KINDS.DINGTALK: ("address", "sign"),
    KINDS.FEISHU: ("address", "sign"),
    KINDS.LARK: ("address", "sign"),
    KINDS.WECOM: ("address",),
    KINDS.TELEGRAM: ("token", "chat", "server"),
    KINDS.NTFY: ("server", "topic", "token"),
}
OF_ALL: Final = ("name", "language", "enabled")
WHERE: Final[dict[str, Promise]] = {
    KINDS.MAIL: _("To addresses of people or lists, through the mail server of this instance."),
    KINDS.WEBHOOK: _("JSON to a server of yours, signed, with a key that tells repetitions apart."),
    KINDS.SLACK: _("In Slack: an app with “Incoming Webhooks”, and the webhook URL of a channel."),
    KINDS.TEAMS: _("In Teams: Workflows, “Send webhook alerts to a channel”, and the URL that it shows."),
    KINDS.DINGTALK: _("In DingTalk: a custom robot of a group, with signing as its security setting."),
    KINDS.FEISHU: _("In Feishu: a custom bot of a group, with signature verification."),
    KINDS.LARK: _("In Lark: a custom bot of a group, with signature verification."),
    KINDS.WECOM: _("In WeCom: a group robot, and its webhook address."),
    KINDS.TELEGRAM: _("A bot made with @BotFather that is a member of the chat."),
    KINDS.NTFY: _("A topic on ntfy.sh or on a server of yours."),
}


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address that is posted to; all of it may be a secret but its origin."""

    value: Masked
    origin: str
    host: str


class SealedAddressField(forms.CharField):
    """Cleans to a `WebAddress`, or to None when empty and not required. Never shown again."""

    marks_optional = False

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.PasswordInput(render_value=False, attrs=MONO), **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return web_address(text) if text else None


class ServerField(forms.CharField):
    """The root of a server, cleaned to its origin; shown again, since it holds no secret."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.TextInput(attrs=MONO | {"inputmode": "url"}), **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return web_address(text).origin if text else ""


class RecipientsField(forms.CharField):
    """Mail addresses, one a line or with commas between, cleaned to a list of distinct ones."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs=MONO | {"rows": 4}), **options)

    def clean(self, value: Any) -> Any:
        found = list(dict.fromkeys(re.split(r"[\s,;，；]+", super().clean(value).strip(" ,;"))))
        if len(found) > MOST_RECIPIENTS:
            raise ValidationError(_("Give at most %(n)d addresses."), params={"n": MOST_RECIPIENTS})
        for address in found:
            try:
                validate_email(address)
            except ValidationError:
                raise ValidationError(
                    _("%(address)s is no e-mail address."), params={"address": address[:80]}
                ) from None
        return found


class ChannelForm(forms.Form):
    """A channel of one kind. Of one that exists, a secret that is left out stays as it is."""

    name = forms.CharField(label=_("Name"), max_length=60, help_text=_("How your team calls it."))
    to = RecipientsField(label=_("Recipients"), help_text=_("One address a line."))
    address = SealedAddressField(
        label=_("Webhook address"),
        max_length=LONGEST_ADDRESS,
        help_text=_("Sealed on save, and never shown again."),
    )
    server = ServerField(label=_("Server"), max_length=LONGEST_ADDRESS)
    topic = forms.CharField(
        label=_("Topic"),
        max_length=64,
        validators=[RegexValidator(r"^[-_A-Za-z0-9]+$", _("A topic has letters, digits, - and _ alone."))],
    )
    chat = forms.CharField(
        label=_("Chat"),
        max_length=65,
        help_text=_("The number of the chat, such as -1001234567890, or @name of a channel."),
        validators=[RegexValidator(r"^(-?\d{1,20}|@\w{4,64})$", _("Give a number or @name."))],
    )
    token = KeyField(label=_("Token"), help_text=_("Sealed on save, and never shown again."))
    sign = KeyField(label=_("Signing secret"), help_text=_("Sealed on save, and never shown again."))
    language = forms.ChoiceField(label=_("Language"), choices=settings.LANGUAGES)
    enabled = forms.BooleanField(label=_("In use"), required=False, initial=True)

    def __init__(self, *args: Any, kind: str, channel: Channel | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.kind, self.channel = kind, channel
        for name in set(self.fields) - set(FIELDS[kind]) - set(OF_ALL):
            del self.fields[name]
        for name, field in self.fields.items():
            field.required = field.required and not self._may_be_empty(name)
        if kind == KINDS.TELEGRAM and channel is None:
            self.initial.setdefault("server", TELEGRAM)
        if kind == KINDS.NTFY and channel is None:
            self.initial.setdefault("server", NTFY)

    def clean_sign(self) -> Any:
        """A secret of our own webhook must be long enough to be one."""
        sign = self.cleaned_data["sign"]
        if sign is not None and self.kind == KINDS.WEBHOOK and len(sign.value.reveal()) < SHORTEST_SIGN:
            raise ValidationError(_("Give at least %(n)d characters."), params={"n": SHORTEST_SIGN})
        return sign

    def draft(self) -> ChannelDraft:
        """Return the channel as the action takes it; call it after `is_valid`."""
        said = self.cleaned_data
        address, token, sign = said.get("address"), said.get("token"), said.get("sign")
        plain: dict[str, Any] = {
            name: said[name] for name in ("to", "server", "topic", "chat") if name in said
        }
        origin, host = self._place(address)
        return ChannelDraft(
            name=said["name"],
            language=said["language"],
            enabled=said["enabled"],
            settings=plain,
            secret=address.value if address else token.value if token else None,
            sign=sign.value if sign else None,
            origin=origin,
            host=host,
        )

    def where(self) -> Promise:
        """Say where in the product a channel of this kind is made."""
        return WHERE[self.kind]

    def _place(self, address: WebAddress | None) -> tuple[str, str]:
        if address is not None:
            return address.origin, address.host
        if server := self.cleaned_data.get("server"):
            return server, host_of(server)
        origin = self.channel.origin if self.channel else ""
        return origin, host_of(origin) if origin else ""

    def _may_be_empty(self, name: str) -> bool:
        if name == "sign" and self.kind != KINDS.WEBHOOK:
            return True
        if name == "token" and self.kind == KINDS.NTFY:
            return True
        if self.channel is None:
            return False
        part = {"address": "secret", "token": "secret", "sign": "sign"}.get(name)
        return part is not None and row_has(self.channel, part)


def web_address(text: str) -> WebAddress:
    """Return an address that may be posted to. Raises ValidationError in words that repeat nothing of it."""
    if not _WRITTEN.fullmatch(text) or urlsplit(text).fragment:
        raise ValidationError(_NO_ADDRESS)
    try:
        origin = origin_of(text.partition("?")[0])
    except AddressError:
        raise ValidationError(_NO_ADDRESS) from None
    host = host_of(origin)
    if origin.startswith("http://") and not is_private(host):
        raise ValidationError(_NOT_PUBLIC)
    return WebAddress(Masked(text), origin, host)


def initial_of(channel: Channel) -> dict[str, Any]:
    """Return a channel as its form shows it, without its secrets."""
    said = dict(channel.settings) | {
        "name": channel.name,
        "language": channel.language,
        "enabled": channel.enabled,
    }
    if "to" in said:
        said["to"] = "\n".join(said["to"])
    return said
