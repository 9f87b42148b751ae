"""Standing orders, the runs they leave, and what is known of each lane now and by the hour."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from panel.models.codes import new_run_code
from panel.models.profiles import Lane
from panel.models.teams import User


class Check(models.Model):
    """The standing order of one lane: which rungs, how often, from where, how far it may spend.

    `next_run_at` is None while the check is paused. A lane is called down when `down_k` of the last
    `down_n` runs failed, and up again when `up_k` of the last `up_n` passed. `tokens_a_day` caps
    what scheduled runs spend in one UTC day. Rungs above the second are climbed once in
    `upper_interval_s`, up to `top_rung`; the runs between stop at the second.

    `cron` (in `zone`) takes the place of the interval where it is not empty. Between `quiet_from` and
    `quiet_to`, local times of `zone`, no slot is due. While the newest result is a failure the next slot
    comes after `retest_s`, None for as usual. A pause has a reason, and may have an end (`paused_until`).
    """

    lane = models.OneToOneField(Lane, on_delete=models.CASCADE, related_name="check_order")
    top_rung = models.PositiveSmallIntegerField(default=2)
    interval_s = models.PositiveIntegerField(_("interval"), default=300)
    upper_interval_s = models.PositiveIntegerField(_("interval of the upper rungs"), default=3600)
    cron = models.CharField(_("cron"), max_length=100, blank=True)
    zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    quiet_from = models.TimeField(_("quiet from"), null=True, blank=True)
    quiet_to = models.TimeField(_("quiet until"), null=True, blank=True)
    retest_s = models.PositiveIntegerField(_("interval while failing"), null=True, blank=True)
    place = models.CharField(max_length=40, default="panel")
    next_run_at = models.DateTimeField(null=True)
    down_k = models.PositiveSmallIntegerField(default=2)
    down_n = models.PositiveSmallIntegerField(default=2)
    up_k = models.PositiveSmallIntegerField(default=1)
    up_n = models.PositiveSmallIntegerField(default=1)
    tokens_a_day = models.PositiveIntegerField(default=200_000)
    paused_at = models.DateTimeField(null=True)
    paused_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    paused_until = models.DateTimeField(null=True)
    pause_reason = models.CharField(max_length=300, blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["next_run_at"], condition=models.Q(next_run_at__isnull=False), name="check_due"
            ),
            models.Index(
                fields=["paused_until"], condition=models.Q(paused_until__isnull=False), name="check_resumes"
            ),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(interval_s__gte=10), name="check_interval_sane"),
            models.CheckConstraint(
                condition=models.Q(down_k__gte=1, down_n__gte=models.F("down_k"), down_n__lte=10),
                name="check_down_k_of_n",
            ),
            models.CheckConstraint(
                condition=models.Q(up_k__gte=1, up_n__gte=models.F("up_k"), up_n__lte=10),
                name="check_up_k_of_n",
            ),
        ]

    def __str__(self) -> str:
        return f"check of {self.lane}"


class Run(models.Model):
    """One climb of the ladder: one slot of a check, exactly one row, also when it did not happen.

    `status` and what follows are empty until the run is done. `lease_until` says until when the
    worker that took it may be believed alive. `top_rung` is how far this climb may go; `host_name` the host
    that it went to, empty for none.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        MISSED = "missed", _("missed")

    class Trigger(models.TextChoices):
        SCHEDULE = "schedule", _("schedule")
        PERSON = "person", _("person")

    # Each index is written three times a run: what another one answers has none of its own.
    check_order = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="runs", db_index=False)
    code = models.CharField(max_length=12, default=new_run_code, editable=False)
    slot = models.DateTimeField()
    trigger = models.CharField(max_length=8, choices=Trigger.choices, default=Trigger.SCHEDULE)
    asked_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    place = models.CharField(max_length=40, default="panel")
    top_rung = models.PositiveSmallIntegerField(default=2)
    host_name = models.CharField(max_length=60, blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=12, blank=True)
    rung = models.PositiveSmallIntegerField(null=True)
    reason = models.CharField(max_length=40, blank=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    duration_ms = models.PositiveIntegerField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    tokens = models.PositiveIntegerField(default=0)
    profile_version = models.PositiveIntegerField(default=0)
    key_number = models.PositiveIntegerField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["asked_by"], condition=models.Q(asked_by__isnull=False), name="run_by_person"
            ),
            models.Index(
                fields=["lease_until"],
                condition=models.Q(state__in=["queued", "running"]),
                name="run_open_by_lease",
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["check_order", "slot"], name="run_once_a_slot"),
            models.UniqueConstraint(fields=["code"], name="run_code_once"),
        ]

    def __str__(self) -> str:
        return self.code


class RunSteps(models.Model):
    """The full, redacted steps of a run, kept apart from it and pruned sooner.

    `steps` is a list of objects in the shape of `checks.outcome.Step`. Those that do not last are of an
    ordinary pass, and go when the lane's next one comes.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="kept_steps")
    steps = models.JSONField()
    lasting = models.BooleanField(default=True)


class RunOutput(models.Model):
    """A piece of what a dry run's command printed, in order; capped as a whole, redacted, plain text."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="output")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    text = models.TextField()

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "number"], name="output_number_once_in_a_run"),
        ]


class Leftover(models.Model):
    """What a dry run may leave elsewhere: written before it starts, gone when it closed by itself.

    Where its worker died, the sweep tidies up: it removes the run's rollouts from the gateway and ends its
    processes on the host. `next_try_at` is when that is tried next, None once it is settled; `said` holds
    what was found and removed.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="leftover")
    made_at = models.DateTimeField()
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)
    said = models.JSONField(default=dict)

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["next_try_at"],
                condition=models.Q(next_try_at__isnull=False),
                name="leftover_due",
            ),
        ]


# These move with each result: an index, and a look at the run's row, would cost each one their upkeep.
NO_INDEX: Any = {"db_index": False, "db_constraint": False}


class LaneState(models.Model):
    """What the newest evidence says of a lane. Written by the ledger alone.

    `state` holds the confirmed one of ok, degraded, down, not_testable, unknown; paused and maintenance are
    worked out when read. The evidence is old from `stale_at` on, None once the sweep settled that. From
    `maintained_since` to `maintained_until` the lane is in maintenance: failures change nothing. `recent`
    holds the last results, newest last, one letter each: o ok, g degraded, d down, n not testable.
    `last_pass` is the newest run
    that was ok or degraded. `passed` maps a rung's number to the time it last passed (ISO).
    `tokens_spent` counts the UTC day `tokens_day`. `contract_at` is when the lane's contract was last
    asked; while `contract_broken`, a chat that passes does not make the lane green. `upper_at` is when a rung
    above the second was last asked, `upper_broken` the one at which that climb broke, None when it held.
    A lane is `flapping` while its confirmed state changes too often to be told each time.
    """

    lane = models.OneToOneField(Lane, on_delete=models.CASCADE, related_name="now")
    state = models.CharField(max_length=12, default="unknown")
    since = models.DateTimeField(null=True)
    status = models.CharField(max_length=12, blank=True)
    rung = models.PositiveSmallIntegerField(null=True)
    reason = models.CharField(max_length=40, blank=True)
    last_run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+", **NO_INDEX)
    last_pass = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+", **NO_INDEX)
    evidence_at = models.DateTimeField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    recent = models.CharField(max_length=10, blank=True)
    passed = models.JSONField(default=dict)
    token_parameter = models.CharField(max_length=24, blank=True)
    tokens_day = models.DateField(null=True)
    tokens_spent = models.PositiveIntegerField(default=0)
    contract_at = models.DateTimeField(null=True)
    contract_broken = models.BooleanField(default=False)
    upper_at = models.DateTimeField(null=True)
    upper_broken = models.PositiveSmallIntegerField(null=True)
    flapping = models.BooleanField(default=False)
    stale_at = models.DateTimeField(null=True)
    maintained_since = models.DateTimeField(null=True)
    maintained_until = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [
            # None on `stale_at`: it moves with each result, and would cost each one an index's upkeep.
            models.Index(
                fields=["maintained_until"],
                condition=models.Q(maintained_until__isnull=False),
                name="lane_maintained",
            ),
        ]


class Transition(models.Model):
    """A lane's confirmed state became another one. `followed` once incidents were made of it."""

    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="transitions")
    at = models.DateTimeField()
    before = models.CharField(max_length=12)
    after = models.CharField(max_length=12)
    rung = models.PositiveSmallIntegerField(null=True)
    reason = models.CharField(max_length=40, blank=True)
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    followed = models.BooleanField(default=False)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lane", "-at"], name="transition_by_lane"),
            models.Index(fields=["at"], condition=models.Q(followed=False), name="transition_to_follow"),
        ]


class LaneHour(models.Model):
    """One hour of one lane, counted as its runs close.

    `worst_first` and `worst_second` are the worst confirmed states of its half hours, empty where
    there was no evidence. `latency_first` and `latency_second` hold the mergeable histograms of the
    passes of those halves (`panel.rollups`).
    """

    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="hours", db_index=False)
    hour = models.DateTimeField()
    ok = models.PositiveIntegerField(default=0)
    degraded = models.PositiveIntegerField(default=0)
    down = models.PositiveIntegerField(default=0)
    not_testable = models.PositiveIntegerField(default=0)
    missed = models.PositiveIntegerField(default=0)
    maintenance = models.PositiveIntegerField(default=0)
    worst_first = models.CharField(max_length=12, blank=True)
    worst_second = models.CharField(max_length=12, blank=True)
    latency_first = models.BinaryField(default=b"")
    latency_second = models.BinaryField(default=b"")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lane", "hour"], name="lane_hour_once"),
        ]


class LaneDay(models.Model):
    """One UTC day of one lane, counted as its runs close: what its hours say, added up.

    `reasons` counts failures by reason code; `latency` is the mergeable histogram of the passes.
    """

    lane = models.ForeignKey(Lane, on_delete=models.CASCADE, related_name="days", db_index=False)
    day = models.DateField()
    ok = models.PositiveIntegerField(default=0)
    degraded = models.PositiveIntegerField(default=0)
    down = models.PositiveIntegerField(default=0)
    not_testable = models.PositiveIntegerField(default=0)
    missed = models.PositiveIntegerField(default=0)
    maintenance = models.PositiveIntegerField(default=0)
    worst = models.CharField(max_length=12, blank=True)
    reasons = models.JSONField(default=dict)
    latency = models.BinaryField(default=b"")
    tokens = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["lane", "day"], name="lane_day_once")]


class Pulse(models.Model):
    """When a part of Preflight itself was last seen at work: "tick" (the sweep), "worker"."""

    name = models.CharField(max_length=40, primary_key=True)
    at = models.DateTimeField()
