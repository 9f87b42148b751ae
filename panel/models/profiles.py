"""Profiles, their three lanes, and the snapshots that number every change."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from panel.models.codes import new_code
from panel.models.endpoints import Endpoint
from panel.models.teams import Team, User


class Profile(models.Model):
    """What one training project uses. `endpoint` and `model` are what its lanes inherit.

    `version` equals the newest ProfileVersion's number. `engineers_take_keys` says whether a
    bundle with keys may be taken by engineers, or by leads and owners only.
    """

    class Generation(models.TextChoices):
        ZERO = "0.x", _("Agent-Lightning 0.x")
        ONE = "1.x", _("Agent-Lightning 1.x")

    class Environment(models.TextChoices):
        PRODUCTION = "production", _("production")
        STAGING = "staging", _("staging")
        DEV = "dev", _("dev")
        BATCH = "batch", _("batch")

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="profiles")
    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    name = models.CharField(_("name"), max_length=60)
    environment = models.CharField(
        _("environment"), max_length=12, choices=Environment.choices, default=Environment.DEV
    )
    generation = models.CharField(
        _("framework"), max_length=4, choices=Generation.choices, default=Generation.ONE
    )
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.PROTECT, related_name="profiles")
    model = models.CharField(_("model"), max_length=200, blank=True)
    engineers_take_keys = models.BooleanField(_("engineers may take keys"), default=False)
    version = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "name"], name="profile_name_once_in_a_team"),
        ]

    def __str__(self) -> str:
        return self.name


class Lane(models.Model):
    """One of the three ways a project calls a model. A None endpoint or empty model is inherited.

    `prompt_length` and `response_length` are the tokens that training will ask a rollout for; None where
    nobody said.
    """

    class Kind(models.TextChoices):
        AGENT = "agent", _("Agent inference")
        REPLAY = "replay", _("Trace replay")
        ROLLOUT = "rollout", _("Rollout sampling")

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="lanes")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    in_use = models.BooleanField(_("in use"), default=True)
    endpoint = models.ForeignKey(
        Endpoint, null=True, blank=True, on_delete=models.PROTECT, related_name="lanes"
    )
    model = models.CharField(_("model"), max_length=200, blank=True)
    latency_limit_ms = models.PositiveIntegerField(_("latency limit"), null=True, blank=True)
    prompt_length = models.PositiveIntegerField(_("prompt length"), null=True, blank=True)
    response_length = models.PositiveIntegerField(_("response length"), null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["profile", "kind"], name="lane_kind_once_in_a_profile"),
        ]

    def __str__(self) -> str:
        return f"{self.profile} {self.kind}"

    @property
    def effective_endpoint(self) -> Endpoint | None:
        """The lane's own endpoint, else the profile's; None when neither names one."""
        return self.endpoint or self.profile.endpoint

    @property
    def effective_model(self) -> str:
        """The lane's own model id, else the profile's; empty when neither names one."""
        return self.model or self.profile.model


class ProfileVersion(models.Model):
    """What a profile said at one version, without secrets: keys appear as number and fingerprint."""

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    snapshot = models.JSONField()
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["profile", "number"], name="version_number_once_in_a_profile"),
        ]

    def __str__(self) -> str:
        return f"{self.profile} v{self.number}"
