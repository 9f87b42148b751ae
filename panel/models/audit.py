"""What people did: the append-only chain of events, and who took which bundle."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from panel.models.profiles import ProfileVersion
from panel.models.teams import Team, User


class AuditEvent(models.Model):
    """One deed, never changed or deleted (the database refuses both).

    `verb` and `noun` are stable words ("add", "key"); `code` and `label` name the object as it was;
    `data` holds no secret. `chain` is SHA-256 over the previous event's chain and this one's fields.
    """

    team = models.ForeignKey(Team, null=True, on_delete=models.PROTECT, related_name="audit_events")
    actor = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    verb = models.CharField(max_length=24)
    noun = models.CharField(max_length=24)
    code = models.CharField(max_length=40, blank=True)
    label = models.CharField(max_length=200, blank=True)
    data = models.JSONField(default=dict)
    chain = models.CharField(max_length=64)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["team", "-at"], name="audit_by_team")]


class Download(models.Model):
    """A bundle that left: who holds which key versions since when."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="downloads")
    profile_version = models.ForeignKey(ProfileVersion, on_delete=models.CASCADE, related_name="downloads")
    flavour = models.CharField(max_length=16)
    with_keys = models.BooleanField()
    key_versions = models.JSONField(default=list)
    at = models.DateTimeField(auto_now_add=True)
