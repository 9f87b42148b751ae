"""Maintenance: a person said so, with an end and a reason; left out of availability."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from panel.models.codes import new_code
from panel.models.hosts import Host
from panel.models.profiles import Lane, Profile
from panel.models.teams import Team, User


class Maintenance(models.Model):
    """A time in which failures are expected: of the whole team, or of one profile, lane or host.

    At most one of `profile`, `lane` and `host` is set; none means the whole team. `cron` (in `zone`) makes
    it come again, for `duration_s` seconds each time, until `ends_at`; empty means once, from `starts_at` to
    `ends_at`. `ended_at` is when somebody ended it early.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="maintenances")
    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    profile = models.ForeignKey(Profile, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    lane = models.ForeignKey(Lane, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    host = models.ForeignKey(Host, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    starts_at = models.DateTimeField(_("starts"))
    ends_at = models.DateTimeField(_("ends"))
    cron = models.CharField(_("comes again"), max_length=100, blank=True)
    zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    duration_s = models.PositiveIntegerField(_("duration"), default=0)
    reason = models.CharField(_("reason"), max_length=300)
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-starts_at"]
        indexes: ClassVar = [models.Index(fields=["team", "ends_at"], name="maintenance_by_end")]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(ends_at__gt=models.F("starts_at")), name="maintenance_ends_after_it_starts"
            ),
        ]
