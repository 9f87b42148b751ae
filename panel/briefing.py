"""Rows and an unsealed key into a spec. Imported by tasks alone, so that no page ever holds a key."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from django.conf import settings
from django.db.models import Q

import checks
from checks import (
    EgressPolicy,
    EndpointKind,
    LaneKind,
    LaneSpec,
    Masked,
    Outcome,
    Reason,
    Rung,
    Status,
)
from checks.outcome import Step
from panel import vault
from panel.models import Endpoint, KeyVersion, Lane, Run, Team

logger = logging.getLogger(__name__)

# What a lane needs beyond a chat costs a dozen requests, so it is asked rarely: when a person asks,
# once in this time, and at every run while it is broken, since a chat alone must not turn the lane green.
# A rollout lane that lost its token ids trains nothing, so it is asked more often, within its day's tokens.
CONTRACT_EVERY = {
    Lane.Kind.AGENT: timedelta(hours=1),
    Lane.Kind.REPLAY: timedelta(hours=1),
    Lane.Kind.ROLLOUT: timedelta(minutes=15),
}
CLIMB_S, FULL_CLIMB_S = 30.0, 60.0


class _Refusal(Exception):
    """This lane cannot be asked, for a reason of ours."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


def brief(runs: Sequence[Run]) -> tuple[list[LaneSpec], list[Outcome]]:
    """Return a spec for each started run, and an outcome for each that cannot be asked.

    Both carry the run's code as their id. Notes on each run the profile version and the number of
    the key it goes with. Lanes without endpoint, model or usable key are not testable, and so is one
    whose key does not unseal; nothing is sent for them. A run whose lane is gone gets neither. The
    number of queries is fixed.
    """
    rows = Lane.objects.select_related("now").prefetch_related(
        "profile__team", "profile__endpoint", "endpoint"
    )
    lanes = rows.in_bulk({run.check_order.lane_id for run in runs})
    keys, purses = _Keys(lanes.values()), _Purses(lanes.values())
    specs, refused = [], []
    for run in runs:
        if run.check_order.lane_id not in lanes:  # deleted with its runs since they were started
            continue
        try:
            specs.append(_spec(run, lanes[run.check_order.lane_id], keys, purses))
        except _Refusal as refusal:
            refused.append(_not_asked(run, refusal.reason))
    return specs, refused


def _spec(run: Run, lane: Lane, keys: _Keys, purses: _Purses) -> LaneSpec:
    run.profile_version = lane.profile.version
    endpoint, model = lane.effective_endpoint, lane.effective_model
    if endpoint is None:
        raise _Refusal(Reason.KEY_MISSING)
    version = keys.usable(endpoint)
    if not model:
        raise _Refusal(Reason.MODEL_MISSING)
    run.key_number = version.number if version else None
    in_full = _in_full(run, lane)
    return LaneSpec(
        id=run.code,
        base_url=endpoint.base_url,
        model=model,
        key=keys.unseal(version, endpoint, lane.profile.team) if version else None,
        lane=LaneKind(lane.kind),
        kind=EndpointKind(endpoint.kind),
        rungs=tuple(Rung(number) for number in range(1, run.check_order.top_rung + 1)),
        latency_limit_ms=lane.latency_limit_ms,
        prompt_length=lane.prompt_length,
        response_length=lane.response_length,
        token_budget=purses.left(run, lane, endpoint),
        token_parameter=lane.now.token_parameter or None,
        egress=EgressPolicy(allowed=settings.EGRESS_ALLOWED),
        deadline=FULL_CLIMB_S if in_full else CLIMB_S,
        contract=in_full,
        negative=in_full,
        repeat=True,
    )


def _in_full(run: Run, lane: Lane) -> bool:
    """Tell whether this run asks for the lane's contract, and what must be refused, besides the chat."""
    if run.trigger == Run.Trigger.PERSON or lane.now.contract_broken or lane.now.contract_at is None:
        return True
    return (run.started_at or run.slot) - lane.now.contract_at >= CONTRACT_EVERY[Lane.Kind(lane.kind)]


def brief_balance(endpoint_id: int) -> checks.BalanceSpec | None:
    """Return the question for an endpoint's balance; None when it is gone or its key cannot be used."""
    endpoint = Endpoint.objects.select_related("team").filter(pk=endpoint_id).first()
    if endpoint is None:
        return None
    version = KeyVersion.objects.filter(
        endpoint=endpoint, state=KeyVersion.State.ACTIVE, origin=endpoint.origin
    ).first()
    return checks.BalanceSpec(
        base_url=endpoint.base_url,
        key=_open(version, endpoint, endpoint.team) if version else None,
        kind=EndpointKind(endpoint.kind),
        egress=EgressPolicy(allowed=settings.EGRESS_ALLOWED),
    )


class _Keys:
    """The keys in use at the lanes' endpoints, each unsealed at most once."""

    def __init__(self, lanes: Iterable[Lane]) -> None:
        endpoints = {lane.effective_endpoint.pk for lane in lanes if lane.effective_endpoint is not None}
        rows = KeyVersion.objects.filter(endpoint__in=endpoints, state=KeyVersion.State.ACTIVE)
        self._versions = {row.endpoint_id: row for row in rows}
        self._opened: dict[int, Masked | None] = {}

    def usable(self, endpoint: Endpoint) -> KeyVersion | None:
        """Return the key in use, if sealed for where the endpoint points now; None if none is needed."""
        version = self._versions.get(endpoint.pk)
        if version is not None and version.origin == endpoint.origin:
            return version
        if endpoint.needs_key:
            raise _Refusal(Reason.KEY_MISSING)
        return None

    def unseal(self, version: KeyVersion, endpoint: Endpoint, team: Team) -> Masked:
        """Return the key itself."""
        if version.pk not in self._opened:
            self._opened[version.pk] = _open(version, endpoint, team)
        key = self._opened[version.pk]
        if key is None:
            raise _Refusal(Reason.ENGINE_FAULT)
        return key


class _Purses:
    """What lanes and endpoints spent in their UTC day, against what they may."""

    def __init__(self, lanes: Iterable[Lane]) -> None:
        capped = {
            endpoint.pk
            for lane in lanes
            if (endpoint := lane.effective_endpoint) is not None and endpoint.tokens_a_day is not None
        }
        inherited = Q(endpoint=None, profile__endpoint__in=capped)
        sharing = Lane.objects.filter(Q(endpoint__in=capped) | inherited, now__tokens_spent__gt=0)
        self._spent: defaultdict[tuple[int | None, date | None], int] = defaultdict(int)
        for lane in sharing.select_related("now", "profile"):
            where = lane.endpoint_id or lane.profile.endpoint_id
            self._spent[where, lane.now.tokens_day] += lane.now.tokens_spent

    def left(self, run: Run, lane: Lane, endpoint: Endpoint) -> int:
        """Return what the lane may still spend on the UTC day on which the run started.

        Runs of one batch do not see each other's spending: a cap can be passed by one batch's worth.
        """
        today = run.started_at and run.started_at.date()
        spent = lane.now.tokens_spent if lane.now.tokens_day == today else 0
        left = run.check_order.tokens_a_day - spent
        if endpoint.tokens_a_day is not None:
            left = min(left, endpoint.tokens_a_day - self._spent[endpoint.pk, today])
        return max(0, left)


def _open(version: KeyVersion, endpoint: Endpoint, team: Team) -> Masked | None:
    context = vault.key_context(endpoint.code, version.number, version.origin)
    try:
        return vault.unseal(version.sealed, team=team, context=context)
    except vault.SealBroken:
        logger.exception("The key of endpoint %s, version %s, does not open.", endpoint.code, version.number)
        return None


def _not_asked(run: Run, reason: Reason) -> Outcome:
    step = Step(rung=Rung.CHANNEL, name="brief", status=Status.NOT_TESTABLE, reason=reason)
    return Outcome(
        spec_id=run.code, status=Status.NOT_TESTABLE, rung=Rung.CHANNEL, reason=reason, steps=(step,),
        started=run.started_at or run.slot, duration_ms=0.0,
    )  # fmt: skip
