"""The only door from a person to a team's rows: a stranger meets 404, too low a role meets 403.

Absent and foreign look alike. What is returned is fetched with all that its page shows.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeVar

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, Model, Prefetch, Q, QuerySet
from django.http import Http404

from panel.models import (
    AuditEvent,
    Channel,
    Endpoint,
    Host,
    Incident,
    KeyVersion,
    Lane,
    Maintenance,
    Membership,
    Notice,
    Profile,
    ProfileVersion,
    Recipe,
    Report,
    ReportSchedule,
    Role,
    Route,
    Run,
    User,
)

# Membership and Role are named again for the views, which import no models.
__all__ = [
    "Membership",
    "Person",
    "Role",
    "activity_of",
    "channel_for",
    "channels_of",
    "colleague_for",
    "endpoint_for",
    "endpoints_of",
    "helpers_of",
    "host_for",
    "hosts_of",
    "incident_for",
    "keys_due",
    "keys_of",
    "lane_for",
    "maintenance_for",
    "member_of",
    "members_of",
    "memberships_of",
    "notice_for",
    "notices_given_up",
    "notices_of",
    "profile_for",
    "profiles_of",
    "recipe_for",
    "report_for",
    "report_schedule_for",
    "report_schedules_of",
    "reports_of",
    "route_for",
    "routes_of",
    "run_for",
    "somebody",
    "takers_of",
    "told_of",
    "versions_of",
]

Person = User | AnonymousUser
Row = TypeVar("Row", bound=Model)
LONGEST_NUMBER = 9  # digits that every database has room for
KEY_DUE_WITHIN = timedelta(days=30)


def member_of(user: Person, slug: str, role: Role = Role.VIEWER) -> Membership:
    """Return the person's membership of the team with this address.

    Raises Http404 when there is no such team or the person is not in it, PermissionDenied when the
    role does not reach `role`.
    """
    if not user.is_authenticated:
        raise Http404
    member = Membership.objects.select_related("team").filter(user=user, team__slug=slug).first()
    if member is None:
        raise Http404
    member.user = user
    if not member.may(role):
        raise PermissionDenied(role.label)
    return member


def somebody(user: Person) -> User:
    """Return who is signed in; raises Http404 for nobody in particular."""
    if not isinstance(user, User):
        raise Http404
    return user


def memberships_of(user: Person) -> QuerySet[Membership]:
    """Return the person's memberships, by team name."""
    return Membership.objects.filter(user_id=user.pk or 0).select_related("team").order_by("team__name")


def members_of(member: Membership) -> QuerySet[Membership]:
    """Return everybody in the member's team, highest role first."""
    return Membership.objects.filter(team=member.team).select_related("user").order_by("-role", "user__name")


def colleague_for(member: Membership, code: str) -> Membership:
    """Return one membership of the same team by its code."""
    return _one(members_of(member).filter(code=code))


def helpers_of(member: Membership, role: Role) -> list[str]:
    """Return up to three names of people whose role reaches `role`: who can do what this one cannot."""
    return [str(other.user) for other in members_of(member).filter(role__gte=role)[:3]]


def takers_of(member: Membership) -> QuerySet[Membership]:
    """Return the memberships of those who may act on an incident, by name."""
    return members_of(member).filter(role__gte=Role.ENGINEER).order_by("user__name", "pk")


def endpoints_of(member: Membership) -> QuerySet[Endpoint]:
    """Return the team's endpoints, each with its keys (newest first) and the number of its users."""
    keys = KeyVersion.objects.select_related("sealed_by").order_by("-number")
    return (
        Endpoint.objects.filter(team=member.team)
        .select_related("balance")
        .prefetch_related(Prefetch("key_versions", queryset=keys))
        .annotate(profiles_using=Count("profiles", distinct=True), lanes_using=Count("lanes", distinct=True))
        .order_by("name")
    )


def endpoint_for(member: Membership, code: str) -> Endpoint:
    """Return one endpoint of the team by its code."""
    return _one(endpoints_of(member).filter(code=code))


def keys_of(member: Membership) -> QuerySet[KeyVersion]:
    """Return the team's keys with their endpoints, those in use first."""
    return (
        KeyVersion.objects.filter(endpoint__team=member.team)
        .select_related("endpoint", "sealed_by")
        .order_by("state", "endpoint__name", "-number")
    )


def keys_due(member: Membership, now: datetime) -> QuerySet[KeyVersion]:
    """Return the keys in use that expire within 30 days or have, soonest first."""
    return (
        KeyVersion.objects.filter(
            endpoint__team=member.team, state="active", expires_at__lte=now + KEY_DUE_WITHIN
        )
        .select_related("endpoint")
        .order_by("expires_at")
    )


def hosts_of(member: Membership) -> QuerySet[Host]:
    """Return the team's hosts, each with the number of profiles that run there and of hosts behind it."""
    return (
        Host.objects.filter(team=member.team)
        .select_related("jump", "key_sealed_by", "host_key_by")
        .annotate(recipes_using=Count("recipes", distinct=True), hosts_behind=Count("behind", distinct=True))
        .order_by("name")
    )


def host_for(member: Membership, code: str) -> Host:
    """Return one host of the team by its code."""
    return _one(hosts_of(member).filter(code=code))


def incident_for(member: Membership, number: str) -> Incident:
    """Return one incident of the team by its number, as an address says it."""
    if not (number.isascii() and number.isdecimal() and len(number) <= LONGEST_NUMBER):
        raise Http404
    return _one(Incident.objects.filter(team=member.team, number=int(number)))


def recipe_for(member: Membership, code: str) -> Recipe | None:
    """Return how the profile with this code is run; None where nobody said."""
    profile = profile_for(member, code)
    return Recipe.objects.select_related("host").filter(profile=profile).first()


def profiles_of(member: Membership) -> QuerySet[Profile]:
    """Return the team's profiles with lanes, endpoints, standing checks and recipes."""
    lanes = Lane.objects.select_related("endpoint", "check_order__paused_by", "now").order_by("pk")
    return (
        Profile.objects.filter(team=member.team)
        .select_related("endpoint", "recipe__host")
        .prefetch_related(Prefetch("lanes", queryset=lanes))
        .order_by("name")
    )


def profile_for(member: Membership, code: str) -> Profile:
    """Return one profile of the team by its code."""
    profile = _one(profiles_of(member).filter(code=code))
    profile.team = member.team
    return profile


def versions_of(member: Membership, code: str) -> QuerySet[ProfileVersion]:
    """Return the snapshots of one profile, newest first."""
    return ProfileVersion.objects.filter(profile=profile_for(member, code)).select_related("author")


def lane_for(member: Membership, code: str, kind: str) -> Lane:
    """Return one lane of one profile of the team."""
    lanes = Lane.objects.select_related("profile__endpoint", "endpoint", "check_order")
    return _one(lanes.filter(profile__team=member.team, profile__code=code, kind=kind))


def maintenance_for(member: Membership, code: str) -> Maintenance:
    """Return one maintenance of the team by its code."""
    rows = Maintenance.objects.select_related("team", "profile", "lane__profile", "host")
    return _one(rows.filter(team=member.team, code=code))


def run_for(member: Membership, code: str) -> Run:
    """Return one run of the team by its code."""
    runs = Run.objects.select_related("check_order__lane__profile__endpoint", "check_order__lane__endpoint")
    return _one(
        runs.select_related("kept_steps", "asked_by").filter(
            check_order__lane__profile__team=member.team, code=code
        )
    )


def activity_of(member: Membership, *, noun: str = "", actor: str = "") -> QuerySet[AuditEvent]:
    """Return what was done in the team, newest first; `noun` and `actor` (a membership's code) filter."""
    wanted = Q(team=member.team)
    if noun:
        wanted &= Q(noun=noun)
    if actor:
        wanted &= Q(actor__memberships__code=actor)
    return AuditEvent.objects.filter(wanted).select_related("actor").order_by("-at", "-pk")


def channels_of(member: Membership) -> QuerySet[Channel]:
    """Return where the team is told, by name, each with the number of routes that lead there."""
    return Channel.objects.filter(team=member.team).annotate(route_count=Count("routes")).order_by("name")


def channel_for(member: Membership, code: str) -> Channel:
    """Return one channel of the team by its code."""
    return _one(channels_of(member).filter(code=code))


def routes_of(member: Membership) -> QuerySet[Route]:
    """Return the team's routes with their channels; those that tell at once first."""
    return (
        Route.objects.filter(team=member.team)
        .select_related("channel")
        .order_by("after_min", "channel__name", "pk")
    )


def route_for(member: Membership, code: str) -> Route:
    """Return one route of the team by its code."""
    return _one(routes_of(member).filter(code=code))


def notices_of(member: Membership) -> QuerySet[Notice]:
    """Return the team's notices with their channels, newest first."""
    return (
        Notice.objects.filter(channel__team=member.team)
        .select_related("channel", "incident")
        .order_by("-made_at", "-pk")
    )


def notices_given_up(member: Membership) -> QuerySet[Notice]:
    """Return the notices that were given up and wait for a person, newest first."""
    return notices_of(member).filter(state=Notice.State.DEAD).exclude(kind=Notice.Kind.TEST)


def notice_for(member: Membership, code: str) -> Notice:
    """Return one notice of the team by its code."""
    return _one(notices_of(member).filter(code=code))


def reports_of(member: Membership) -> QuerySet[Report]:
    """Return the team's reports, newest first, without their bodies but for the numbers that a list shows."""
    rows = Report.objects.filter(team=member.team).defer("body").order_by("-begins", "-made_at")
    return rows.annotate(
        available=F("body__available"), incidents=F("body__incidents"), longest_s=F("body__longest_s")
    )


def report_for(member: Membership, code: str) -> Report:
    """Return one report of the team by its code."""
    return _one(Report.objects.select_related("team").filter(team=member.team, code=code))


def told_of(report: Report) -> QuerySet[Notice]:
    """Return what was sent, or is to be, of a report, by channel."""
    of_it = Notice.objects.filter(kind=Notice.Kind.REPORT, key__startswith=f"report:{report.pk}:")
    return of_it.select_related("channel").order_by("channel__name")


def report_schedules_of(member: Membership) -> QuerySet[ReportSchedule]:
    """Return when the team's reports come, the next one first, each with its channels."""
    rows = ReportSchedule.objects.filter(team=member.team).prefetch_related("channels")
    return rows.order_by("next_at", "pk")


def report_schedule_for(member: Membership, code: str) -> ReportSchedule:
    """Return one schedule of the team by its code."""
    return _one(report_schedules_of(member).filter(code=code))


def _one(rows: QuerySet[Row]) -> Row:
    row = rows.first()
    if row is None:
        raise Http404
    return row
