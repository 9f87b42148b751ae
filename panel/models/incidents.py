"""Incidents: one cause, from its first confirmed failure to recovery, over all lanes it touches."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from panel.models.checks import Run
from panel.models.endpoints import Endpoint
from panel.models.hosts import Host
from panel.models.profiles import Lane
from panel.models.teams import Team, User


class Incident(models.Model):
    """One cause. `number` counts within the team. `cause` is what groups lanes ("key|<endpoint>|v<n>",
    "endpoint|<code>", "host|<code>" and so on, then the reason's family); one open incident a cause.

    `worst` is the worst state it reached. `parent` is the open cause that explains this one: then nobody is
    told of it. `taken_by` has it. Nobody is told of it until `muted_until`.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="incidents")
    number = models.PositiveIntegerField()
    cause = models.CharField(max_length=120)
    reason = models.CharField(max_length=40)
    rung = models.PositiveSmallIntegerField(null=True)
    worst = models.CharField(max_length=12)
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.SET_NULL, related_name="+")
    host = models.ForeignKey(Host, null=True, on_delete=models.SET_NULL, related_name="+")
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    taken_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    taken_at = models.DateTimeField(null=True)
    muted_until = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-opened_at"]
        indexes: ClassVar = [models.Index(fields=["team", "-opened_at"], name="incident_by_team")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "number"], name="incident_number_once_in_a_team"),
            models.UniqueConstraint(
                fields=["team", "cause"],
                condition=models.Q(closed_at__isnull=True),
                name="incident_one_open_a_cause",
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.number}"

    @property
    def key_number(self) -> int | None:
        """The version of the key that the endpoint refuses; None where the cause is another."""
        kind, *_, last = self.cause.split("|")
        return int(last.removeprefix("v")) if kind == "key" else None


class IncidentLane(models.Model):
    """A lane's part in an incident, from its transition down to its transition up."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="lanes")
    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="incidents")
    state = models.CharField(max_length=12)
    reason = models.CharField(max_length=40)
    joined_at = models.DateTimeField()
    recovered_at = models.DateTimeField(null=True)
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lane"],
                condition=models.Q(recovered_at__isnull=True),
                name="lane_in_one_open_incident",
            ),
        ]


class IncidentEntry(models.Model):
    """A line of an incident's timeline: what happened, or what a person said or did."""

    class Kind(models.TextChoices):
        OPENED = "opened", _("opened")
        JOINED = "joined", _("lane joined")
        CHANGED = "changed", _("state changed")
        RECOVERED = "recovered", _("lane recovered")
        CLOSED = "closed", _("closed")
        TAKEN = "taken", _("taken")
        HANDED = "handed", _("handed over")
        NOTE = "note", _("note")
        MUTED = "muted", _("muted")
        UNMUTED = "unmuted", _("no longer muted")
        TOLD = "told", _("told")
        ESCALATED = "escalated", _("escalated")

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="entries")
    at = models.DateTimeField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField(blank=True)
    say = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["at", "pk"]
