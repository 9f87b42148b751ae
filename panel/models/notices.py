"""Channels, the routes to them, and each notice that was to be sent, exactly once."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from panel.models.codes import new_code
from panel.models.incidents import Incident
from panel.models.teams import Team, User


class Channel(models.Model):
    """Where a team is told. `settings` holds what is no secret (recipients, chat id, topic, server);
    `sealed_secret` the address or token that is one, and `sealed_sign` the signing secret, both sealed by the
    vault for `origin`. `language` is "en" or "zh-hans". `shown` is what a page may show of the address.
    `failure` is why the last sending failed, with the facts of it in `say`; empty after one that succeeded.
    """

    class Kind(models.TextChoices):
        MAIL = "mail", _("e-mail")
        WEBHOOK = "webhook", _("signed webhook")
        SLACK = "slack", "Slack"
        TEAMS = "teams", "Microsoft Teams"
        DINGTALK = "dingtalk", _("DingTalk")
        FEISHU = "feishu", _("Feishu")
        LARK = "lark", "Lark"
        WECOM = "wecom", _("WeCom")
        TELEGRAM = "telegram", "Telegram"
        NTFY = "ntfy", "ntfy"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="channels")
    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    name = models.CharField(_("name"), max_length=60)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices)
    language = models.CharField(_("language"), max_length=10, default="en")
    settings = models.JSONField(default=dict, blank=True)
    sealed_secret = models.TextField(blank=True, editable=False)
    sealed_sign = models.TextField(blank=True, editable=False)
    secret_number = models.PositiveIntegerField(default=0, editable=False)
    origin = models.CharField(max_length=300, blank=True, editable=False)
    shown = models.CharField(max_length=120, blank=True, editable=False)
    enabled = models.BooleanField(_("in use"), default=True)
    told_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    failure = models.CharField(max_length=40, blank=True)
    say = models.JSONField(default=dict)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "name"], name="channel_name_once_in_a_team"),
        ]

    def __str__(self) -> str:
        return self.name


class Route(models.Model):
    """Which incidents reach a channel. Empty lists mean all. `states` are the worst states that matter
    ("down", "degraded", "unknown"); between `quiet_from` and `quiet_to` (in `zone`) nothing is sent but what
    is down, unless `quiet_all`. `after_min` is for escalation: only what nobody took for so long.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="routes")
    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="routes")
    environments = models.JSONField(_("environments"), default=list, blank=True)
    states = models.JSONField(_("states"), default=list, blank=True)
    quiet_from = models.TimeField(_("quiet from"), null=True, blank=True)
    quiet_to = models.TimeField(_("quiet until"), null=True, blank=True)
    quiet_all = models.BooleanField(_("also for what is down"), default=False)
    zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    after_min = models.PositiveIntegerField(_("after minutes"), default=0)
    made_at = models.DateTimeField(auto_now_add=True)


class Notice(models.Model):
    """One message to one channel about one thing; `key` makes it unique, so that nothing is told twice.

    `data` is what is said, without any secret or upstream text; it is put into words when it is sent.
    `failure` and `say` tell why it was not sent yet, was given up, or dropped. `code` goes with the message:
    the other side knows by it what it has already.
    """

    class Kind(models.TextChoices):
        OPENED = "opened", _("opened")
        CHANGED = "changed", _("changed")
        RECOVERED = "recovered", _("recovered")
        ESCALATED = "escalated", _("escalated")
        REPORT = "report", _("report")
        KEYS = "keys", _("keys due")
        WATCHDOG = "watchdog", _("Preflight itself")
        TEST = "test", _("test")

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        SENDING = "sending", _("sending")
        SENT = "sent", _("sent")
        DEAD = "dead", _("given up")
        DROPPED = "dropped", pgettext_lazy("a message", "dropped")

    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="notices")
    incident = models.ForeignKey(Incident, null=True, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    key = models.CharField(max_length=160, unique=True)
    data = models.JSONField(default=dict)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    made_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    failure = models.CharField(max_length=40, blank=True)
    say = models.JSONField(default=dict)
    asked_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["due_at"], condition=models.Q(state__in=["queued", "sending"]), name="notice_due"
            ),
        ]
