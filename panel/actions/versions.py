"""Numbers every change of a profile with a snapshot that holds no secret."""

from __future__ import annotations

from django.db.models import Q

from panel.models import Endpoint, KeyVersion, Lane, Profile, ProfileVersion, User


def bump(profile: Profile, author: User | None) -> ProfileVersion:
    """Give the profile its next version, inside the caller's transaction."""
    locked = Profile.objects.select_for_update(of=("self",)).get(pk=profile.pk)
    profile.version = locked.version + 1
    profile.save(update_fields=["version", "changed_at"])
    return ProfileVersion.objects.create(
        profile=profile, number=profile.version, snapshot=snapshot(profile), author=author
    )


def bump_users_of(endpoint: Endpoint, author: User | None) -> int:
    """Give every profile that uses the endpoint a new version; return how many there were."""
    using = Profile.objects.filter(Q(endpoint=endpoint) | Q(lanes__endpoint=endpoint)).distinct()
    profiles = list(using.order_by("pk"))
    for profile in profiles:
        bump(profile, author)
    return len(profiles)


def snapshot(profile: Profile) -> dict[str, object]:
    """Return what the profile says now: lanes resolved, keys as number and fingerprint."""
    lanes = (
        Lane.objects.filter(profile=profile).select_related("endpoint", "profile__endpoint").order_by("pk")
    )
    keys = KeyVersion.objects.filter(endpoint__team_id=profile.team_id, state="active")
    active = {key.endpoint_id: key for key in keys}
    return {
        "name": profile.name,
        "environment": profile.environment,
        "generation": profile.generation,
        "engineers_take_keys": profile.engineers_take_keys,
        "lanes": [_lane(lane, active) for lane in lanes],
    }


def _lane(lane: Lane, active: dict[int, KeyVersion]) -> dict[str, object]:
    endpoint = lane.effective_endpoint
    said: dict[str, object] = {
        "kind": lane.kind,
        "in_use": lane.in_use,
        "model": lane.effective_model,
        "latency_limit_ms": lane.latency_limit_ms,
    }
    if lane.prompt_length or lane.response_length:
        said |= {"prompt_length": lane.prompt_length, "response_length": lane.response_length}
    if endpoint is not None:
        key = active.get(endpoint.pk)
        said |= {
            "endpoint": endpoint.name,
            "endpoint_code": endpoint.code,
            "endpoint_kind": endpoint.kind,
            "base_url": endpoint.base_url,
            "key": f"v{key.number} {key.fingerprint}" if key else "",
        }
    return said
