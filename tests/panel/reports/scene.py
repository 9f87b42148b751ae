"""A team with a week behind it: two profiles, one outage, one slow evening, a key due, and old bundles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from panel import rollups
from panel.models import (
    Channel,
    Check,
    Download,
    Incident,
    IncidentLane,
    Lane,
    LaneDay,
    LaneHour,
    LaneState,
    Membership,
    Profile,
    Role,
    Team,
    Transition,
)
from tests import make

# The week of Monday the 23rd to Sunday the 29th of November 2026 in UTC, and the Monday after.
MONDAY, NEXT_MONDAY = datetime(2026, 11, 23, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC)
MORNING = NEXT_MONDAY + timedelta(hours=8)
WEDNESDAY = MONDAY + timedelta(days=2, hours=10)
HOSTILE = '=<script>[x](http://evil.example)*"`'


@dataclass(frozen=True)
class Scene:
    """The team, who leads it, and the profile that was down."""

    lead: Membership
    profile: Profile

    @property
    def team(self) -> Team:
        return self.lead.team


def scene(lanes: int = 2) -> Scene:
    """Make a team whose profiles were watched for two weeks; `lanes` of each are in use."""
    lead = make.member(
        make.team("atlas", name="Atlas"), Role.LEAD, make.user("lin@team.example", name="Lin Yue")
    )
    relay = make.endpoint(lead.team, name="relay-main")
    relay.key_versions.update(expires_at=NEXT_MONDAY + timedelta(days=6))
    kinds = make.KINDS[:lanes]
    grpo = make.profile(lead.team, kinds, name="grpo-prod", endpoint=relay, environment="production")
    search = make.profile(lead.team, kinds, name="search-agent", endpoint=relay)
    for lane in Lane.objects.filter(profile__in=(grpo, search), in_use=True):
        watched(lane)
    outage(grpo, lead)
    slow_evening(search)
    bundles(grpo, lead)
    return Scene(lead, grpo)


def watched(lane: Lane, base_ms: int = 300) -> None:
    """Two weeks of hours, twelve passes each, and the days that they make."""
    half = rollups.pack(rollups.one(base_ms) * 6)
    hours = [NEXT_MONDAY - timedelta(hours=back) for back in range(1, 14 * 24 + 1)]
    LaneHour.objects.bulk_create(
        LaneHour(lane=lane, hour=hour, ok=12, worst_first="ok", worst_second="ok", latency_first=half,
                 latency_second=half)
        for hour in hours
    )  # fmt: skip
    days = {hour.date() for hour in hours}
    LaneDay.objects.bulk_create(LaneDay(lane=lane, day=day, ok=288, tokens=1000) for day in days)
    LaneState.objects.filter(lane=lane).update(state="ok", evidence_at=MORNING, since=MONDAY)
    Transition.objects.create(lane=lane, at=MONDAY - timedelta(days=20), before="unknown", after="ok")


def outage(profile: Profile, lead: Membership) -> None:
    """58 minutes on Wednesday of the agent's lane, with its incident."""
    lane, end = profile.lanes.get(kind="agent"), WEDNESDAY + timedelta(minutes=58)
    LaneHour.objects.filter(lane=lane, hour=WEDNESDAY).update(ok=1, down=11, worst_first="down")
    LaneDay.objects.filter(lane=lane, day=WEDNESDAY).update(reasons={"auth_invalid_key": 11})
    Transition.objects.create(lane=lane, at=WEDNESDAY, before="ok", after="down", reason="auth_invalid_key")
    Transition.objects.create(lane=lane, at=end, before="down", after="ok")
    incident = Incident.objects.create(
        team=lead.team, number=126, cause="key|relay|v1|auth", reason="auth_invalid_key", worst="down",
        endpoint=profile.endpoint, opened_at=WEDNESDAY, closed_at=end, taken_by=lead.user,
    )  # fmt: skip
    IncidentLane.objects.create(
        incident=incident, lane=lane, state="down", reason="auth_invalid_key", joined_at=WEDNESDAY,
        recovered_at=end,
    )  # fmt: skip


def slow_evening(profile: Profile) -> None:
    """Six hours on Friday in which the replay's lane was over its limit, and a latency that has doubled."""
    lane, friday = profile.lanes.get(kind="replay"), MONDAY + timedelta(days=4, hours=17)
    Transition.objects.create(lane=lane, at=friday, before="ok", after="degraded")
    Transition.objects.create(lane=lane, at=friday + timedelta(hours=6), before="degraded", after="ok")
    slow = rollups.pack(rollups.one(900) * 6)
    LaneHour.objects.filter(lane=lane, hour__gte=MONDAY).update(latency_first=slow, latency_second=slow)
    Lane.objects.filter(pk=lane.pk).update(latency_limit_ms=500)


def bundles(profile: Profile, lead: Membership) -> None:
    """Two bundles of the profile's first version: one with a key that has been replaced."""
    version = profile.versions.get(number=1)
    for user, keys, day in ((lead.user, ["relay-main v0"], 1), (make.user(name="Chen Bo"), [], 3)):
        row = Download.objects.create(
            user=user, profile_version=version, flavour="dotenv", with_keys=bool(keys), key_versions=keys
        )
        Download.objects.filter(pk=row.pk).update(at=MONDAY + timedelta(days=day))
    Profile.objects.filter(pk=profile.pk).update(version=2)


def channel(team: Team, name: str = "ops", **fields: object) -> Channel:
    """A channel of the team."""
    return Channel.objects.create(team=team, name=name, **({"kind": "webhook"} | fields))


def pause(lane: Lane, at: datetime) -> None:
    """Stop a lane's checks at a time."""
    Check.objects.filter(lane=lane).update(paused_at=at, next_run_at=None)
