"""GPU hosts, what was read of them, and how each profile is run there."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from panel.models.codes import new_code, new_run_code
from panel.models.profiles import Profile
from panel.models.teams import Team, User


class Host(models.Model):
    """A GPU machine reached by SSH.

    `host_key` is the public key (one OpenSSH line) that a lead accepted; empty until then, and nobody logs
    in before. `offered_key` is what the machine showed last where that is another one. `sealed_key` is the
    private key that logs in, sealed by the vault; `public_key` its public line, for authorized_keys.
    `zone` is the queue of the workers that can reach it. `next_reading_at` is None while readings are
    paused. `state` is what the newest reading confirms: ok, degraded, down, not_testable or unknown.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="hosts")
    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    name = models.CharField(_("name"), max_length=60)
    address = models.CharField(_("address"), max_length=255)
    port = models.PositiveIntegerField(_("port"), default=22)
    user = models.CharField(_("user"), max_length=32)
    jump = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="behind")
    zone = models.CharField(_("zone"), max_length=40, default="panel")
    python = models.CharField(_("Python"), max_length=300, default="python3")
    workdir = models.CharField(_("working directory"), max_length=500, blank=True)
    activate = models.CharField(_("activate line"), max_length=500, blank=True)
    public_key = models.TextField(blank=True, editable=False)
    sealed_key = models.TextField(blank=True, editable=False)
    key_number = models.PositiveIntegerField(default=0, editable=False)
    key_sealed_at = models.DateTimeField(null=True)
    key_sealed_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    host_key = models.TextField(blank=True, editable=False)
    host_key_at = models.DateTimeField(null=True)
    host_key_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    offered_key = models.TextField(blank=True, editable=False)
    offered_at = models.DateTimeField(null=True)
    interval_s = models.PositiveIntegerField(_("interval"), default=3600)
    next_reading_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=12, default="unknown")
    reason = models.CharField(max_length=40, blank=True)
    since = models.DateTimeField(null=True)
    evidence_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["name"]
        indexes: ClassVar = [
            models.Index(
                fields=["next_reading_at"],
                condition=models.Q(next_reading_at__isnull=False),
                name="host_reading_due",
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "name"], name="host_name_once_in_a_team"),
            models.CheckConstraint(condition=models.Q(port__gte=1, port__lte=65535), name="host_port_sane"),
            models.CheckConstraint(condition=models.Q(interval_s__gte=60), name="host_interval_sane"),
        ]

    def __str__(self) -> str:
        return self.name


class HostReading(models.Model):
    """One look at a host: one slot, exactly one row, also when it did not happen.

    `facts` is what the host said of itself (`checks.hosts.facts`), None until it did, with the folders of its
    profiles' models under "models" (`checks.hosts.fit`); `findings` a list of
    {"reason": code, "status": …, "say": {…}}, worst first. `status` is ok, degraded, down or not_testable.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        MISSED = "missed", _("missed")

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="readings")
    code = models.CharField(max_length=12, unique=True, default=new_run_code, editable=False)
    slot = models.DateTimeField()
    asked_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=12, blank=True)
    reason = models.CharField(max_length=40, blank=True)
    say = models.JSONField(default=dict)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    duration_ms = models.PositiveIntegerField(null=True)
    facts = models.JSONField(null=True)
    findings = models.JSONField(default=list)

    class Meta:
        ordering: ClassVar = ["-slot"]
        indexes: ClassVar = [
            models.Index(
                fields=["lease_until"],
                condition=models.Q(state__in=["queued", "running"]),
                name="reading_open_by_lease",
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["host", "slot"], name="reading_once_a_slot"),
        ]

    def __str__(self) -> str:
        return self.code


class Recipe(models.Model):
    """How a profile is run on its host and how far its dry run may go (`checks.spec.Recipe`).

    `where` says from where rungs 1 and 2 are climbed. `clients` are requirement-like strings
    ("openai", "openai==2.15.0"); `command` is a list of arguments that a lead stored. An empty `workdir`,
    `python` or `activate` is the host's.
    """

    class Where(models.TextChoices):
        WORKER = "worker", _("Preflight's workers")
        HOST = "host", _("the host")
        BOTH = "both", _("both")

    profile = models.OneToOneField(Profile, on_delete=models.CASCADE, related_name="recipe")
    host = models.ForeignKey(Host, null=True, blank=True, on_delete=models.PROTECT, related_name="recipes")
    where = models.CharField(_("climbed from"), max_length=6, choices=Where.choices, default=Where.WORKER)
    clients = models.JSONField(_("client libraries"), default=list, blank=True)
    workdir = models.CharField(_("working directory"), max_length=500, blank=True)
    python = models.CharField(_("Python"), max_length=300, blank=True)
    activate = models.CharField(_("activate line"), max_length=500, blank=True)
    agent = models.CharField(_("agent class"), max_length=200, blank=True)
    question = models.TextField(_("question"), blank=True)
    question_field = models.CharField(_("question's field"), max_length=60, default="question")
    agent_deadline_s = models.PositiveIntegerField(_("agent's deadline"), default=120)
    prompts = models.PositiveSmallIntegerField(_("prompts"), default=2)
    samples = models.PositiveSmallIntegerField(_("samples a prompt"), default=2)
    even_when_busy = models.BooleanField(_("also when the gateway is busy"), default=False)
    command = models.JSONField(_("command"), default=list, blank=True)
    command_deadline_s = models.PositiveIntegerField(_("command's deadline"), default=600)
    output_cap_kb = models.PositiveIntegerField(_("output kept"), default=256)
    gpus = models.CharField(_("GPUs"), max_length=60, blank=True)
    model_path = models.CharField(_("model folder"), max_length=500, blank=True)
    tensor_parallel = models.PositiveSmallIntegerField(_("tensor parallel"), default=1)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(prompts__gte=1, prompts__lte=16, samples__gte=1, samples__lte=16),
                name="recipe_samples_sane",
            ),
            models.CheckConstraint(
                condition=models.Q(command_deadline_s__gte=10, command_deadline_s__lte=7200)
                & models.Q(agent_deadline_s__gte=5, agent_deadline_s__lte=1800),
                name="recipe_deadlines_sane",
            ),
        ]

    def __str__(self) -> str:
        return f"recipe of {self.profile}"
