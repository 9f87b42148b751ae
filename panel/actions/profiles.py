"""What people do to profiles and their lanes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from panel import ledger, schedule
from panel.actions import Refused
from panel.actions import rhythm as rhythms
from panel.actions.audit import record
from panel.actions.checks import run_profile
from panel.actions.rhythm import Rhythm
from panel.actions.versions import bump
from panel.models import Check, Endpoint, Lane, LaneState, Membership, Profile

DEFAULT_INTERVAL_S = 300
LOWEST_TOP, HIGHEST_TOP = 2, 5
LEAST_UPPER_INTERVAL_S = 300


@dataclass(frozen=True, slots=True)
class LaneDraft:
    """What a form says of one lane; a None endpoint or empty model is inherited from the profile. The
    lengths are in tokens, and matter to the rollout lane. `top_rung` is how far scheduled runs climb, once in
    `upper_interval_s`; None leaves what is stored, as it does for `rhythm`."""

    in_use: bool = True
    endpoint: Endpoint | None = None
    model: str = ""
    latency_limit_ms: int | None = None
    interval_s: int = DEFAULT_INTERVAL_S
    prompt_length: int | None = None
    response_length: int | None = None
    top_rung: int | None = None
    upper_interval_s: int | None = None
    rhythm: Rhythm | None = None


@dataclass(frozen=True, slots=True)
class ProfileDraft:
    """What a form says of a profile; lanes by their kind, absent ones take the defaults."""

    name: str
    environment: str
    generation: str
    endpoint: Endpoint | None
    model: str
    engineers_take_keys: bool = False
    lanes: Mapping[str, LaneDraft] = field(default_factory=dict)


def used_by_default(generation: str) -> tuple[str, ...]:
    """Return the kinds of lanes that a new profile uses: Agent-Lightning 1.x replays nothing."""
    kinds = tuple(Lane.Kind.values)
    if generation == Profile.Generation.ONE:
        return tuple(kind for kind in kinds if kind != Lane.Kind.REPLAY)
    return kinds


@transaction.atomic
def create(*, actor: Membership, draft: ProfileDraft) -> Profile:
    """Make a profile with its three lanes and standing checks, and start the first runs."""
    profile = Profile(team=actor.team)
    _fill(actor, profile, draft)
    _save_named(profile)
    for kind in Lane.Kind.values:
        unsaid = LaneDraft(in_use=kind in used_by_default(draft.generation))
        _set_lane(actor, Lane(profile=profile, kind=kind), draft.lanes.get(kind, unsaid))
    bump(profile, actor.user)
    _record(actor, "create", profile)
    run_profile(actor=actor, profile=profile)
    return profile


@transaction.atomic
def change(*, actor: Membership, profile: Profile, draft: ProfileDraft) -> Profile:
    """Change a profile; it gets a new version, and its lanes are checked at once."""
    _fill(actor, profile, draft)
    _save_named(profile)
    for lane in Lane.objects.filter(profile=profile).order_by("pk"):
        _set_lane(actor, lane, draft.lanes.get(lane.kind, LaneDraft()))
    bump(profile, actor.user)
    _record(actor, "change", profile, version=profile.version)
    run_profile(actor=actor, profile=profile)
    return profile


@transaction.atomic
def delete(*, actor: Membership, profile: Profile) -> None:
    """Delete a profile with its lanes, checks and history."""
    _record(actor, "delete", profile, version=profile.version)
    profile.delete()


def _fill(actor: Membership, profile: Profile, draft: ProfileDraft) -> None:
    _own(actor, draft.endpoint)
    profile.name = draft.name.strip()
    profile.environment, profile.generation = draft.environment, draft.generation
    profile.endpoint, profile.model = draft.endpoint, draft.model
    profile.engineers_take_keys = draft.engineers_take_keys


def _set_lane(actor: Membership, lane: Lane, draft: LaneDraft) -> None:
    """Save the lane with its standing check, whose next slot is spread over the interval."""
    _own(actor, draft.endpoint)
    lane.in_use, lane.endpoint, lane.model = draft.in_use, draft.endpoint, draft.model
    lane.latency_limit_ms = draft.latency_limit_ms
    lane.prompt_length, lane.response_length = draft.prompt_length, draft.response_length
    lane.save()
    LaneState.objects.get_or_create(lane=lane)
    order = Check.objects.filter(lane=lane).first() or Check(lane=lane, retest_s=rhythms.DEFAULT_RETEST_S)
    order.interval_s = draft.interval_s
    _set_height(order, draft)
    if draft.rhythm is not None:
        rhythms.apply(order, draft.rhythm)
    order.lane = lane
    now = datetime.now(UTC)
    waits = not lane.in_use or order.paused_at is not None
    order.next_run_at = None if waits else schedule.first_slot(order, now)
    order.save()
    ledger.renew([lane.pk], now)


def _set_height(order: Check, draft: LaneDraft) -> None:
    """Say how far scheduled runs climb, and how often beyond the second rung."""
    if draft.top_rung is not None:
        if not LOWEST_TOP <= draft.top_rung <= HIGHEST_TOP:
            raise Refused(_("Choose a rung from 2 to 5."), "top_rung")
        order.top_rung = draft.top_rung
    if draft.upper_interval_s is not None:
        if draft.upper_interval_s < LEAST_UPPER_INTERVAL_S:
            raise Refused(_("The upper rungs are climbed at most every 5 minutes."), "upper_interval_s")
        order.upper_interval_s = draft.upper_interval_s


def _own(actor: Membership, endpoint: Endpoint | None) -> None:
    """An endpoint of another team never gets into a profile, whatever a form sent."""
    if endpoint is not None and endpoint.team_id != actor.team_id:
        raise Refused(_("There is no such endpoint in this team."), "endpoint")


def _save_named(profile: Profile) -> None:
    try:
        with transaction.atomic():
            profile.save()
    except IntegrityError as error:
        raise Refused(_("The team has a profile named %(name)s.") % {"name": profile.name}, "name") from error


def _record(actor: Membership, verb: str, profile: Profile, **data: object) -> None:
    record(
        team=actor.team, actor=actor.user, verb=verb, noun="profile", code=profile.code, label=profile.name,
        **data,
    )  # fmt: skip
