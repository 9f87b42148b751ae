"""Endpoints and the sealed versions of their keys."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from panel.models.codes import new_code
from panel.models.teams import Team, User


class Endpoint(models.Model):
    """One service that speaks an OpenAI-compatible API.

    `base_url` is normalised (`checks.addresses`); `origin` is its scheme, host and port, to which
    the key is bound. `needs_key` is False for a server that runs without one.
    `tokens_a_day` caps what the checks of all its lanes spend in one UTC day; None is no cap.
    """

    class Kind(models.TextChoices):
        OPENAI = "openai", _("OpenAI-compatible")
        VLLM = "vllm", "vLLM"
        SGLANG = "sglang", "SGLang"
        LITELLM = "litellm-proxy", _("LiteLLM proxy")
        GATEWAY = "agl-gateway", _("Agent-Lightning gateway")
        OLLAMA = "ollama", "Ollama"
        AZURE = "azure", "Azure OpenAI"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="endpoints")
    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    name = models.CharField(_("name"), max_length=60)
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices, default=Kind.OPENAI)
    base_url = models.CharField(_("base URL"), max_length=2048)
    origin = models.CharField(max_length=300, editable=False)
    needs_key = models.BooleanField(_("needs a key"), default=True)
    tokens_a_day = models.PositiveIntegerField(_("tokens a day"), null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "name"], name="endpoint_name_once_in_a_team"),
        ]

    def __str__(self) -> str:
        return self.name


class KeyVersion(models.Model):
    """One sealed key of one endpoint. The value is written once and read by the vault alone.

    `origin` repeats the endpoint's origin at sealing time; `last_four` is empty for a short key.
    """

    class State(models.TextChoices):
        ACTIVE = "active", _("in use")
        RETIRED = "retired", _("retired")
        DROPPED = "dropped", pgettext_lazy("a key", "dropped")
        DESTROYED = "destroyed", _("destroyed")

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="key_versions")
    number = models.PositiveIntegerField()
    sealed = models.TextField(editable=False)
    origin = models.CharField(max_length=300, editable=False)
    last_four = models.CharField(max_length=4, blank=True, editable=False)
    length = models.PositiveSmallIntegerField(editable=False)
    fingerprint = models.CharField(max_length=16, editable=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    sealed_at = models.DateTimeField(auto_now_add=True)
    sealed_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    proved_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["endpoint", "number"], name="key_number_once_on_an_endpoint"),
            models.UniqueConstraint(
                fields=["endpoint"], condition=models.Q(state="active"), name="key_one_active_on_an_endpoint"
            ),
        ]

    def __str__(self) -> str:
        return f"v{self.number}"


class BalanceTold(models.Model):
    """What an endpoint last said of the money behind its key; an unknown balance is never 0.

    `state` is "asking" until the worker has the answer, then one of `checks.balance.BalanceState`; `why`
    one of `checks.balance.Why` where there is no amount. `currency` is ISO 4217 or "quota".
    """

    endpoint = models.OneToOneField(Endpoint, on_delete=models.CASCADE, related_name="balance")
    state = models.CharField(max_length=12)
    amount = models.DecimalField(max_digits=24, decimal_places=6, null=True)
    currency = models.CharField(max_length=8, blank=True)
    of = models.CharField(max_length=8, blank=True)
    why = models.CharField(max_length=20, blank=True)
    asked_at = models.DateTimeField()
