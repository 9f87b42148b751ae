"""What people do to checks: run now, pause, resume."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from panel import ledger, schedule, tasks
from panel.actions import Refused, within_limits
from panel.actions.audit import record
from panel.models import Check, Endpoint, Lane, Membership, Profile, Run

LONGEST_REASON = 300


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
def pause(*, actor: Membership, lane: Lane, reason: str, until: datetime | None = None) -> None:
    """Stop a lane's scheduled runs, until then or until somebody resumes them. A lane that is paused already
    is paused for this reason and until this end from now on."""
    now = datetime.now(UTC)
    if not reason.strip():
        raise Refused(_("Say why: whoever is on call reads it."), "reason")
    if len(reason) > LONGEST_REASON:
        raise Refused(_("Say it in at most %(n)d characters.") % {"n": LONGEST_REASON}, "reason")
    if until is not None and until <= now:
        raise Refused(_("This end has passed."), "until")
    order = Check.objects.select_for_update().get(lane=lane)
    said = (reason.strip(), until)
    if order.paused_at is not None and (order.pause_reason, order.paused_until) == said:
        return
    order.paused_at, order.paused_by = order.paused_at or now, actor.user
    order.pause_reason, order.paused_until = said
    order.next_run_at = None
    order.save(update_fields=schedule.PAUSE_FIELDS)
    _record_lane(actor, "pause", lane, reason=order.pause_reason, until=until.isoformat() if until else "")


@transaction.atomic
def resume(*, actor: Membership, lane: Lane) -> None:
    """Let a lane's scheduled runs go on."""
    order = Check.objects.select_for_update().filter(lane=lane).exclude(paused_at=None).first()
    if order is None:
        return
    now, order.lane = datetime.now(UTC), lane
    schedule.go_on(order, now)
    order.save(update_fields=schedule.PAUSE_FIELDS)
    ledger.renew([lane.pk], now)
    _record_lane(actor, "resume", lane)


def _open_and_send(wanted: Iterable[Check], actor: Membership) -> list[Run]:
    runs = ledger.open_manual(list(wanted), now=datetime.now(UTC), user=actor.user)
    # A deaf broker fails no deed: the runs are rows already, and the sweep sends them.
    transaction.on_commit(lambda: tasks.send(runs), robust=True)
    return runs


def _record_lane(actor: Membership, verb: str, lane: Lane, **data: object) -> None:
    record(
        team=actor.team, actor=actor.user, verb=verb, noun="lane", code=lane.profile.code,
        label=f"{lane.profile.name} {lane.kind}", **data,
    )  # fmt: skip
