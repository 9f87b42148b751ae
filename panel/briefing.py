"""Rows and an unsealed key into a spec. Imported by tasks alone, so that no page ever holds a key."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.conf import settings

from checks import EgressPolicy, EndpointKind, LaneKind, LaneSpec, Masked, Outcome, Reason, Rung, Status
from checks.outcome import Step
from panel import vault
from panel.models import Endpoint, KeyVersion, Lane, Run

logger = logging.getLogger(__name__)


class _Refusal(Exception):
    """This lane cannot be asked, for a reason of ours."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


def brief(runs: Sequence[Run]) -> tuple[list[LaneSpec], list[Outcome]]:
    """Return a spec for each started run, and an outcome for each that cannot be asked.

    Both carry the run's code as their id. Notes on each run the profile version and the number of
    the key it goes with. Lanes without endpoint, model or usable key are not testable, and so is one
    whose key does not unseal; nothing is sent for them. The number of queries is fixed.
    """
    lanes = (
        Lane.objects.select_related("profile__team", "profile__endpoint", "endpoint", "now", "check_order")
        .filter(pk__in={run.check_order.lane_id for run in runs})
        .in_bulk()
    )
    keys = _keys_in_use(lanes.values())
    specs, refused = [], []
    for run in runs:
        try:
            specs.append(_spec(run, lanes[run.check_order.lane_id], keys))
        except _Refusal as refusal:
            refused.append(_not_asked(run, refusal.reason))
    return specs, refused


def _keys_in_use(lanes: Iterable[Lane]) -> dict[int, KeyVersion]:
    endpoints = {lane.effective_endpoint.pk for lane in lanes if lane.effective_endpoint is not None}
    rows = KeyVersion.objects.filter(endpoint__in=endpoints, state=KeyVersion.State.ACTIVE)
    return {row.endpoint_id: row for row in rows}


def _spec(run: Run, lane: Lane, keys: dict[int, KeyVersion]) -> LaneSpec:
    run.profile_version = lane.profile.version
    endpoint, model = lane.effective_endpoint, lane.effective_model
    if endpoint is None:
        raise _Refusal(Reason.KEY_MISSING)
    version = _usable(endpoint, keys.get(endpoint.pk))
    if not model:
        raise _Refusal(Reason.MODEL_MISSING)
    run.key_number = version.number if version else None
    return LaneSpec(
        id=run.code,
        base_url=endpoint.base_url,
        model=model,
        key=_unseal(version, endpoint, lane) if version else None,
        lane=LaneKind(lane.kind),
        kind=EndpointKind(endpoint.kind),
        rungs=tuple(Rung(number) for number in range(1, lane.check_order.top_rung + 1)),
        latency_limit_ms=lane.latency_limit_ms,
        token_budget=_budget(lane, run.started_at),
        token_parameter=lane.now.token_parameter or None,
        egress=EgressPolicy(allowed=settings.EGRESS_ALLOWED),
    )


def _usable(endpoint: Endpoint, version: KeyVersion | None) -> KeyVersion | None:
    """Return the key in use if it was sealed for where the endpoint points now; None if none is needed."""
    if version is not None and version.origin == endpoint.origin:
        return version
    if endpoint.needs_key:
        raise _Refusal(Reason.KEY_MISSING)
    return None


def _unseal(version: KeyVersion, endpoint: Endpoint, lane: Lane) -> Masked:
    context = vault.key_context(endpoint.code, version.number, version.origin)
    try:
        return vault.unseal(version.sealed, team=lane.profile.team, context=context)
    except vault.SealBroken:
        logger.exception("The key of endpoint %s, version %s, does not open.", endpoint.code, version.number)
        raise _Refusal(Reason.ENGINE_FAULT) from None


def _budget(lane: Lane, now: datetime | None) -> int:
    """Return what the lane may still spend today (UTC)."""
    state = lane.now
    spent = state.tokens_spent if now is not None and state.tokens_day == now.date() else 0
    return max(0, lane.check_order.tokens_a_day - spent)


def _not_asked(run: Run, reason: Reason) -> Outcome:
    step = Step(rung=Rung.CHANNEL, name="brief", status=Status.NOT_TESTABLE, reason=reason)
    return Outcome(
        spec_id=run.code, status=Status.NOT_TESTABLE, rung=Rung.CHANNEL, reason=reason, steps=(step,),
        started=run.started_at or run.slot, duration_ms=0.0,
    )  # fmt: skip
