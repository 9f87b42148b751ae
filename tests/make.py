"""Rows for tests: plain functions that make the smallest true row, and take what a test is about."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from checks.spec import Masked
from panel import vault
from panel.models import (
    Check,
    Endpoint,
    Host,
    HostReading,
    Incident,
    KeyVersion,
    Lane,
    LaneState,
    Membership,
    Profile,
    ProfileVersion,
    Recipe,
    Report,
    ReportSchedule,
    Role,
    Run,
    Team,
    User,
)
from panel.reports.body import make_body
from panel.reports.periods import newest_complete
from panel.reports.shapes import to_json

KINDS = ("agent", "replay", "rollout")
HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS"
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_numbers = itertools.count(1)


def team(slug: str = "", **fields: Any) -> Team:
    """A team with a data key of its own."""
    slug = slug or f"team-{next(_numbers)}"
    return Team.objects.create(
        slug=slug, **({"name": slug.title(), "sealed_data_key": vault.fresh_data_key(slug)} | fields)
    )


def user(email: str = "", **fields: Any) -> User:
    """A person whose password is "correct horse battery"."""
    email = email or f"person-{next(_numbers)}@team.example"
    name = fields.pop("name", email.partition("@")[0].title())
    return User.objects.create_user(
        email, fields.pop("password", "correct horse battery"), name=name, **fields
    )


def member(team: Team | None = None, role: Role = Role.VIEWER, user: User | None = None) -> Membership:
    """A person in a team, both new unless given."""
    return Membership.objects.create(team=team or _team(), user=user or _user(), role=role)


def endpoint(team: Team, key: str | None = "sk-test-0123456789abcdef", **fields: Any) -> Endpoint:
    """An endpoint with its key sealed in place; `key=None` leaves it without one."""
    base_url = fields.setdefault("base_url", "https://relay.example/v1")
    fields.setdefault("name", f"relay {next(_numbers)}")
    fields.setdefault("origin", "{0.scheme}://{0.netloc}".format(urlsplit(base_url)))
    row = Endpoint.objects.create(team=team, **fields)
    if key is not None:
        key_version(row, key)
    return row


def key_version(endpoint: Endpoint, key: str, number: int = 1, **fields: Any) -> KeyVersion:
    """A sealed key, in use unless told otherwise."""
    secret, team = Masked(key), endpoint.team
    context = vault.key_context(endpoint.code, number, endpoint.origin)
    said = {
        "sealed": vault.seal(secret, team=team, context=context),
        "origin": endpoint.origin,
        "last_four": key[-4:],
        "length": len(key),
        "fingerprint": vault.fingerprint(secret, team=team),
    }
    return KeyVersion.objects.create(endpoint=endpoint, number=number, **(said | fields))


def profile(team: Team | None = None, lanes: tuple[str, ...] = KINDS, **fields: Any) -> Profile:
    """A profile with an endpoint, a model and three lanes with their checks; `lanes` are in use."""
    team = team or _team()
    if "endpoint" not in fields:
        fields["endpoint"] = endpoint(team)
    said = {"name": f"profile {next(_numbers)}", "model": "qwen3-8b", "version": 1}
    row = Profile.objects.create(team=team, **(said | fields))
    ProfileVersion.objects.create(profile=row, number=row.version, snapshot={})
    for kind in KINDS:
        lane(row, kind, in_use=kind in lanes)
    return row


def lane(profile: Profile, kind: str = "agent", check: dict[str, Any] | None = None, **fields: Any) -> Lane:
    """A lane with its standing check (fields in `check`) and the state of a lane never looked at."""
    row = Lane.objects.create(profile=profile, kind=kind, **fields)
    LaneState.objects.create(lane=row)
    Check.objects.create(lane=row, **(check or {}))
    return row


def check(team: Team | None = None, kind: str = "agent", **fields: Any) -> Check:
    """The check of the one lane in use of a new profile."""
    row = Check.objects.select_related("lane__profile__team").get(
        lane__profile=profile(team, lanes=(kind,)), lane__kind=kind
    )
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()
    return row


def run(check: Check, slot: datetime = NOON, **fields: Any) -> Run:
    """A run of the check, queued unless told otherwise."""
    return Run.objects.create(check_order=check, slot=slot, **fields)


def host(team: Team | None = None, private: str | None = None, **fields: Any) -> Host:
    """A host with an accepted host key; `private` is sealed as the key that logs in."""
    said = {"name": f"gpu-{next(_numbers)}", "address": "gpu.example", "user": "train", "host_key": HOST_KEY}
    row = Host.objects.create(team=team or _team(), **(said | fields))
    if private is not None:
        row.key_number, context = 1, vault.ssh_context(row.code, 1)
        row.sealed_key = vault.seal(Masked(private), team=row.team, context=context)
        row.save()
    return row


def reading(host: Host, slot: datetime = NOON, **fields: Any) -> HostReading:
    """A reading of the host, queued unless told otherwise."""
    return HostReading.objects.create(host=host, slot=slot, **fields)


def recipe(profile: Profile, host: Host | None = None, **fields: Any) -> Recipe:
    """How the profile is run."""
    return Recipe.objects.create(profile=profile, host=host, **fields)


def incident(team: Team | None = None, at: datetime = NOON, **fields: Any) -> Incident:
    """An open incident without lanes: a refused key of a new endpoint, unless told otherwise."""
    team, number = team or _team(), next(_numbers)
    said = {"number": number, "cause": f"key|x{number}|v1", "reason": "auth_invalid_key", "worst": "down"}
    return Incident.objects.create(team=team, opened_at=at, **({"rung": 2} | said | fields))


def report_schedule(team: Team | None = None, **fields: Any) -> ReportSchedule:
    """A standing order for a report, weekly on Monday at eight unless told otherwise."""
    return ReportSchedule.objects.create(team=team or _team(), **fields)


def report(team: Team | None = None, now: datetime = NOON, kind: str = "week", zone: str = "UTC") -> Report:
    """The report of the last whole period before `now`."""
    team = team or _team()
    period = newest_complete(kind, zone, now)
    return Report.objects.create(
        team=team, period=kind, zone=zone, begins=period.begins, ends=period.ends, made_at=now,
        body=to_json(make_body(team, period, now)),
    )  # fmt: skip


_team, _user = team, user
