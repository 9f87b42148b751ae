"""Lanes that break and mend, with what follows of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from checks import Outcome, Reason, Rung, Status
from panel import incidents, ledger
from panel.models import Channel, Check, Endpoint, Incident, Lane, Profile, Route, Run, Team
from tests import make
from tests.panel.time.outcomes import failed, passed, started

KEY, NET = Reason.AUTH_INVALID_KEY, Reason.CONNECT_TIMEOUT
MINUTE = timedelta(minutes=1)


def lanes(team: Team, count: int, endpoint: Endpoint | None = None, **check: int) -> list[Check]:
    """So many lanes at one endpoint, down at the first failure and up at the first pass."""
    endpoint = endpoint or make.endpoint(team)
    found = []
    for _ in range(count):
        profile = make.profile(team, lanes=("agent",), endpoint=endpoint)
        found.append(Check.objects.get(lane__profile=profile, lane__kind="agent"))
    pks = [each.pk for each in found]
    Check.objects.filter(pk__in=pks).update(**({"down_k": 1, "down_n": 1} | check))
    return list(Check.objects.filter(pk__in=pks).order_by("pk"))


def many_lanes(team: Team, count: int) -> list[Check]:
    """So many lanes at one endpoint, made in few statements."""
    endpoint = make.endpoint(team)
    profiles = Profile.objects.bulk_create(
        Profile(team=team, name=f"p{n}", endpoint=endpoint, model="m", version=1) for n in range(count)
    )
    rows = Lane.objects.bulk_create(Lane(profile=profile, kind="agent") for profile in profiles)
    return Check.objects.bulk_create(Check(lane=lane, down_k=1, down_n=1) for lane in rows)


def a_round(
    checks: Sequence[Check],
    minute: int,
    reason: Reason | None = None,
    *,
    rung: Rung = Rung.CHANNEL,
    key: int | None = 1,
    slow: bool = False,
) -> datetime:
    """Run all checks at this minute after noon: they break for a reason, or pass; return when it was written.
    Nothing follows of it yet."""
    at = make.NOON + MINUTE * minute
    Run.objects.bulk_create(Run(check_order=check, slot=at, key_number=key) for check in checks)
    runs = started(Run.objects.filter(slot=at, check_order__in=checks), at)
    ledger.close_many([(run, _outcome(run, at, reason, rung, slow)) for run in runs], at + MINUTE / 60)
    return at + MINUTE / 60


def live(checks: Sequence[Check], minute: int, reason: Reason | None = None, **said: object) -> datetime:
    """A round, and what follows of it."""
    at = a_round(checks, minute, reason, **said)  # type: ignore[arg-type]
    incidents.follow(at)
    return at


def _outcome(run: Run, at: datetime, reason: Reason | None, rung: Rung, slow: bool) -> Outcome:
    if reason is None:
        return passed(run, at, slow=slow)
    outcome = failed(run, at, reason)
    step = replace(outcome.steps[1], rung=rung, status=Status.DOWN)
    return replace(outcome, rung=rung, steps=(outcome.steps[0], step))


def open_ones(team: Team) -> list[Incident]:
    """The team's open incidents, oldest first."""
    return list(Incident.objects.filter(team=team, closed_at=None).order_by("number"))


def a_route(team: Team) -> Channel:
    """A channel that is told of everything."""
    channel = Channel.objects.create(team=team, name="on-call", kind="ntfy")
    Route.objects.create(team=team, channel=channel)
    return channel
