"""What people do to checks: run now, pause, resume."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Q

from panel import ledger, schedule, tasks
from panel.actions import within_limits
from panel.actions.audit import record
from panel.models import Check, Endpoint, Lane, Membership, Profile, Run


@transaction.atomic
def run_now(*, actor: Membership, profile: Profile, kinds: Sequence[str] = ()) -> list[Run]:
    """Open a run for each lane in use (of these kinds, when given) and send them on commit.

    Raises Refused when this person asks very often.
    """
    within_limits(actor, "run")
    return run_profile(actor=actor, profile=profile, kinds=kinds)


def run_profile(*, actor: Membership, profile: Profile, kinds: Sequence[str] = ()) -> list[Run]:
    """Open and send runs as part of the deed that asks for them, inside its transaction."""
    wanted = Check.objects.filter(lane__profile=profile, lane__in_use=True)
    if kinds:
        wanted = wanted.filter(lane__kind__in=kinds)
    runs = _open_and_send(wanted, actor)
    record(
        team=actor.team, actor=actor.user, verb="run", noun="profile", code=profile.code, label=profile.name,
        runs=[run.code for run in runs],
    )  # fmt: skip
    return runs


def run_lanes_of(endpoint: Endpoint, actor: Membership) -> list[Run]:
    """Open runs for all lanes that use the endpoint, as part of the deed that changed it."""
    own = Q(lane__endpoint=endpoint)
    inherited = Q(lane__endpoint=None, lane__profile__endpoint=endpoint)
    return _open_and_send(Check.objects.filter(own | inherited, lane__in_use=True), actor)


@transaction.atomic
def pause(*, actor: Membership, lane: Lane) -> None:
    """Stop a lane's scheduled runs until somebody resumes them."""
    now = datetime.now(UTC)
    changed = Check.objects.filter(lane=lane, paused_at=None).update(
        paused_at=now, paused_by=actor.user, next_run_at=None
    )
    if changed:
        _record_lane(actor, "pause", lane)


@transaction.atomic
def resume(*, actor: Membership, lane: Lane) -> None:
    """Let a lane's scheduled runs go on."""
    order = Check.objects.select_for_update().filter(lane=lane).exclude(paused_at=None).first()
    if order is None:
        return
    order.paused_at = order.paused_by = None
    order.next_run_at = schedule.first_slot(order, datetime.now(UTC)) if lane.in_use else None
    order.save(update_fields=["paused_at", "paused_by", "next_run_at"])
    _record_lane(actor, "resume", lane)


def _open_and_send(wanted: Iterable[Check], actor: Membership) -> list[Run]:
    runs = ledger.open_manual(list(wanted), now=datetime.now(UTC), user=actor.user)
    # A deaf broker fails no deed: the runs are rows already, and the sweep sends them.
    transaction.on_commit(lambda: tasks.send(runs), robust=True)
    return runs


def _record_lane(actor: Membership, verb: str, lane: Lane) -> None:
    record(
        team=actor.team, actor=actor.user, verb=verb, noun="lane", code=lane.profile.code,
        label=f"{lane.profile.name} {lane.kind}",
    )  # fmt: skip
