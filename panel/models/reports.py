"""Reports: the day, week or month of a team in one page, and who gets it when."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from panel.models.codes import new_code
from panel.models.notices import Channel
from panel.models.teams import Team


class ReportSchedule(models.Model):
    """A standing order for a report. It is due at `hour` in `zone`: each day, on `weekday` (0 is Monday), or
    on `day` of the month (the last one where the month is shorter). `channels` get it, in their language.
    """

    class Period(models.TextChoices):
        DAY = "day", _("daily")
        WEEK = "week", _("weekly")
        MONTH = "month", _("monthly")

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="report_schedules")
    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    period = models.CharField(_("period"), max_length=5, choices=Period.choices, default=Period.WEEK)
    hour = models.PositiveSmallIntegerField(_("hour"), default=8)
    weekday = models.PositiveSmallIntegerField(_("weekday"), default=0)
    day = models.PositiveSmallIntegerField(_("day"), default=1)
    zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    channels = models.ManyToManyField(Channel, blank=True, related_name="report_schedules")
    next_at = models.DateTimeField(null=True)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["next_at"], condition=models.Q(next_at__isnull=False), name="report_schedule_due"
            ),
        ]


class Report(models.Model):
    """One period of one team, frozen when it was made: `body` holds numbers and codes, no words.

    `begins` and `ends` are the period in `zone`, as UTC instants; one report a team, period, begin and zone.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="reports")
    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    schedule = models.ForeignKey(ReportSchedule, null=True, on_delete=models.SET_NULL, related_name="reports")
    period = models.CharField(max_length=5, choices=ReportSchedule.Period.choices)
    zone = models.CharField(max_length=64)
    begins = models.DateTimeField()
    ends = models.DateTimeField()
    made_at = models.DateTimeField()
    body = models.JSONField()

    class Meta:
        ordering: ClassVar = ["-begins"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "period", "begins", "zone"], name="report_once_a_period"),
        ]
