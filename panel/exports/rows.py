"""Rows into a bundle: what the lanes of a profile that are in use say, inherited or not."""

from __future__ import annotations

from collections.abc import Callable, Collection

from django.utils import timezone

from checks.outcome import Status
from checks.spec import EndpointKind, LaneKind, Masked
from panel.exports.bundle import Bundle, BundleLane, Generation, Proof
from panel.models import Endpoint, KeyVersion, Lane, Profile

KeyOf = Callable[[KeyVersion], Masked | None]
"""Unseals a key; None leaves it out."""


def lanes_of(profile: Profile, kinds: Collection[str], key_of: KeyOf) -> tuple[BundleLane, ...]:
    """Return the profile's lanes in use of these kinds that have an endpoint: two queries."""
    rows = (
        Lane.objects.filter(profile=profile, in_use=True, kind__in=kinds)
        .select_related("endpoint", "profile__endpoint", "now__last_run")
        .order_by("pk")
    )
    active = KeyVersion.objects.filter(endpoint__team=profile.team_id, state="active")
    keys = {key.endpoint_id: key for key in active.select_related("endpoint")}
    return tuple(
        _lane(row, endpoint, key := keys.get(endpoint.pk), key_of(key) if key else None, _proof(row))
        for row in rows
        if (endpoint := row.effective_endpoint) is not None
    )


def bare_lanes_of(profile: Profile) -> tuple[BundleLane, ...]:
    """Return the lanes in use of a profile that `access.profile_for` fetched, without keys and proofs: one
    query."""
    rows = [(lane, endpoint) for lane in profile.lanes.all() if (endpoint := lane.effective_endpoint)]
    active = KeyVersion.objects.filter(endpoint__in={endpoint.pk for _, endpoint in rows}, state="active")
    keys = {key.endpoint_id: key for key in active}
    return tuple(
        _lane(lane, endpoint, keys.get(endpoint.pk), None, None) for lane, endpoint in rows if lane.in_use
    )


def bundle_of(profile: Profile, lanes: tuple[BundleLane, ...], *, team: str, with_keys: bool) -> Bundle:
    """Return the bundle of the profile's present version; `team` is its team's name."""
    generation: Generation = "0.x" if profile.generation == "0.x" else "1.x"
    return Bundle(
        team=team, profile=profile.name, code=profile.code, version=profile.version,
        generation=generation, lanes=lanes, made_at=timezone.localtime(), with_keys=with_keys,
    )  # fmt: skip


def _lane(
    lane: Lane, endpoint: Endpoint, key: KeyVersion | None, secret: Masked | None, proof: Proof | None
) -> BundleLane:
    return BundleLane(
        kind=LaneKind(lane.kind),
        base_url=endpoint.base_url,
        model=lane.effective_model,
        endpoint_name=endpoint.name,
        endpoint_kind=EndpointKind(endpoint.kind),
        needs_key=endpoint.needs_key,
        key_name=f"v{key.number}" if key else "",
        key=secret,
        proof=proof,
    )


def _proof(lane: Lane) -> Proof | None:
    run = lane.now.last_run
    if run is None or run.finished_at is None or not run.status:
        return None
    return Proof(run.code, Status(run.status), timezone.localtime(run.finished_at))
