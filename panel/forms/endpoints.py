"""What people say of endpoints and keys."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from checks.addresses import AddressError, Joined, clean_base_url, host_of, join_preview
from checks.gateway_urls import agents_chat_url
from panel.forms.fields import BaseUrlField, ExpiryField, KeyField, edits_of, suggestions_of
from panel.forms.sentences import address_sentence, edit_sentence
from panel.models import Endpoint

MOST_TOKENS = 2_000_000_000


class EndpointForm(forms.Form):
    """An endpoint as it is changed; its key has a form of its own."""

    name = forms.CharField(
        label=_("Name"), max_length=60, help_text=_("How your team calls it, such as relay-main.")
    )
    base_url = BaseUrlField(
        label=_("Base URL"), help_text=_("Up to and with its version segment, if it has one.")
    )
    kind = forms.ChoiceField(label=_("What answers there"), choices=Endpoint.Kind.choices)
    needs_key = forms.BooleanField(label=_("This endpoint needs a key"), required=False, initial=True)
    tokens_a_day = forms.IntegerField(
        label=_("Tokens a day"),
        required=False,
        min_value=1,
        max_value=MOST_TOKENS,
        help_text=_("What the checks of all lanes may spend here in one UTC day."),
    )

    def said(self) -> dict[str, Any]:
        """Return the endpoint as the action takes it; call it after `is_valid`."""
        return self.cleaned_data | {"base_url": self.cleaned_data["base_url"].url}

    def edits(self) -> list[str]:
        """Say what was changed in the pasted values."""
        return edits_of(self.cleaned_data.get("base_url"), self.cleaned_data.get("key"))

    def suggestions(self) -> tuple[str, ...]:
        """Return base URLs that would be accepted, after a refusal."""
        return suggestions_of(self, "base_url")

    def calls(self) -> Calls:
        """Return what each client would call under the base URL as it stands in the form."""
        return calls_under(str(self["base_url"].value() or ""), str(self["kind"].value() or ""))


class NewEndpointForm(EndpointForm):
    """An endpoint with its first key."""

    key = KeyField(label=_("Key"), required=False, help_text=_("Sealed on save, and never shown again."))
    expires_at = ExpiryField(label=_("Expires on"), required=False)

    field_order = ("name", "base_url", "key", "kind", "needs_key", "expires_at", "tokens_a_day")

    def said(self) -> dict[str, Any]:
        """Return the endpoint as the action takes it, with its key unmasked to nobody."""
        key = self.cleaned_data["key"]
        return super().said() | {"key": key.value if key else None}


class KeyForm(forms.Form):
    """A key for an endpoint."""

    key = KeyField(label=_("Key"))
    expires_at = ExpiryField(
        label=_("Expires on"), required=False, help_text=_("Preflight reminds you from 30 days before.")
    )

    def edits(self) -> list[str]:
        """Say what was changed in the pasted key."""
        return edits_of(self.cleaned_data.get("key"))


class Calls:
    """The join preview of one base URL: the exact URLs called under it, what cleaning changed, or why not.

    `joined` is empty and `refusal` says why when the base URL cannot be used; both are empty without one.
    """

    def __init__(
        self, joined: tuple[Joined, ...] = (), edits: tuple[str, ...] = (), refusal: str = ""
    ) -> None:
        self.joined = joined
        self.edits = edits
        self.refusal = refusal

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        """Return each distinct URL with the clients that call it."""
        found: dict[str, list[str]] = {}
        for one in self.joined:
            found.setdefault(one.url, []).append(one.client)
        return list(found.items())


def calls_under(raw: str, kind: str = "") -> Calls:
    """Return what each client calls under a base URL as somebody typed it, for an endpoint of that kind."""
    if not raw.strip():
        return Calls()
    try:
        clean = clean_base_url(raw)
    except AddressError as error:
        return Calls(refusal=address_sentence(error))
    joined = join_preview(clean.url)
    if kind == Endpoint.Kind.GATEWAY:  # nothing is joined to a gateway's address: each rollout has its own
        joined = (Joined("Agent-Lightning 1.x", agents_chat_url(clean.url)),)
    return Calls(joined, tuple(edit_sentence(edit) for edit in clean.edits))


def name_for(base_url: str, taken: set[str]) -> str:
    """Return a name for a new endpoint: its host, numbered when the team has one of that name."""
    host = host_of(base_url)[:56]
    names = (host if n == 1 else f"{host} {n}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def initial_of(endpoint: Endpoint) -> dict[str, Any]:
    """Return an endpoint as its form shows it."""
    return {
        "name": endpoint.name,
        "base_url": endpoint.base_url,
        "kind": endpoint.kind,
        "needs_key": endpoint.needs_key,
        "tokens_a_day": endpoint.tokens_a_day,
    }
