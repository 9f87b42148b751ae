"""The demo: scripted servers, and a team whose lanes call them.

The team's last two weeks are played through the ledger, the last day from the same table the servers follow;
from the moment of `up --demo` on, everything is measured. The last whole week has its report.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings

from checks import Outcome, Reason, Rung, Status, Step
from checks.spec import Masked
from panel import incidents, ledger, reports, schedule
from panel.actions import checks, endpoints, profiles, teams
from panel.actions import reports as report_deeds
from panel.actions.profiles import LaneDraft, ProfileDraft
from panel.actions.reports import ScheduleDraft
from panel.models import Check, Endpoint, Lane, Membership, ReportSchedule, Role, Run, Team, User

TEAM = "Atlas Agents"
PEOPLE = (
    ("Lin Yue", "lin@demo.example", Role.OWNER),
    ("Chen Bo", "chen@demo.example", Role.ENGINEER),
    ("Marta Silva", "marta@demo.example", Role.VIEWER),
)
PLAYED, PLAYED_EVERY = timedelta(days=14), timedelta(hours=2)
LAST_DAY, LAST_DAY_EVERY = timedelta(hours=24), timedelta(minutes=15)
NEWEST_PLAYED = timedelta(seconds=30)
BROKE, LONG_BROKE = timedelta(minutes=25), timedelta(hours=20)
# A server was over its quota for a while, in the one day that every last whole week holds.
OUTAGE_AT, OUTAGE, OUTAGE_OF = timedelta(days=6, hours=12), timedelta(hours=5), "relay-main"


@dataclass(frozen=True, slots=True)
class DemoServer:
    """One scripted server and the endpoint that calls it.

    `script` is a family with its fault, as the simulator's `--listen` takes it; `reason` is what the
    played past says of that fault, None for a server that is well.
    """

    name: str
    script: str
    kind: str
    path: str
    median_ms: int
    reason: Reason | None = None


SERVERS = (
    DemoServer("relay-main", "new-api:overloaded@period=7200,for=240", "openai", "/v1", 310),
    DemoServer("relay-eu", "one-api:key_expired", "openai", "/v1", 290, Reason.AUTH_KEY_DISABLED_OR_EXPIRED),
    DemoServer("deepseek-team", "deepseek", "openai", "/v1", 480),
    DemoServer("gpu-a11", "vllm", "vllm", "/v1", 420),
    DemoServer("gpu-a12", "vllm:slow", "vllm", "/v1", 620, Reason.LATENCY_OVER_LIMIT),
    DemoServer("gpu-b02", "vllm", "vllm", "", 40, Reason.BASE_URL_MISSING_V1),
)

# profile, environment, generation, then endpoint and model of agent, replay, rollout ("" = not in use)
PROFILES = (
    ("grpo-prod", "production", "1.x", ("relay-eu", "relay-main", "gpu-a11")),
    ("grpo-canary", "staging", "1.x", ("relay-eu", "relay-main", "gpu-a11")),
    ("search-agent", "production", "0.x", ("deepseek-team", "deepseek-team", "gpu-a12")),
    ("sql-agent-dev", "dev", "0.x", ("relay-main", "relay-main", "gpu-b02")),
    ("nightly-eval", "batch", "0.x", ("deepseek-team", "deepseek-team", "")),
)
MODEL = "qwen3-8b"


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """Where the scripted servers listen and which key they want; kept so that a restart finds them."""

    ports: tuple[int, ...]
    key: Masked

    def listen_arguments(self) -> list[str]:
        """The simulator's arguments, the key apart (`PREFLIGHT_DEMO_KEY`)."""
        pairs = zip(self.ports, SERVERS, strict=True)
        listens = [f"--listen=127.0.0.1:{port}={server.script}" for port, server in pairs]
        return [*listens, "--key-env=PREFLIGHT_DEMO_KEY", f"--models={MODEL}", "--delay-ms=300"]


def read_or_make_plan(data_dir: Path) -> DemoPlan:
    """Return the plan kept in `demo.json` (0600); choose free ports and a key the first time."""
    path = data_dir / "demo.json"
    if not path.exists():
        said = {"ports": _free_ports(len(SERVERS)), "key": f"sk-demo-{secrets.token_hex(16)}"}
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(said, file)
    said = json.loads(path.read_text())
    return DemoPlan(tuple(said["ports"]), Masked(said["key"]))


def make_team(plan: DemoPlan, password: str, now: datetime) -> Team:
    """Make the demo team with its past, once; give its people this start's password every time."""
    people = [_person(name, email, password) for name, email, _ in PEOPLE]
    team = Team.objects.filter(memberships__user=people[0]).first()
    if team is None:
        owner = teams.create(user=people[0], name=TEAM)
        team = owner.team
        for user, (_, _, role) in zip(people[1:], PEOPLE[1:], strict=True):
            teams.add_member(actor=owner, email=user.email, role=role)
        _furnish(owner, plan)
        _play_past(team, now)
        _report(owner, now)
    return team


def _person(name: str, email: str, password: str) -> User:
    user = User.objects.filter(email=email).first() or User.objects.create_user(email, name=name)
    user.set_password(password)
    user.save()
    return user


def _furnish(owner: Membership, plan: DemoPlan) -> None:
    made = {
        server.name: endpoints.create(
            actor=owner, name=server.name, kind=server.kind, base_url=f"http://127.0.0.1:{port}{server.path}",
            key=plan.key,
        )
        for port, server in zip(plan.ports, SERVERS, strict=True)
    }  # fmt: skip
    for name, environment, generation, uses in PROFILES:
        draft = ProfileDraft(
            name=name, environment=environment, generation=generation, endpoint=made[uses[0]], model=MODEL,
            engineers_take_keys=True, lanes=dict(_lane_drafts(made, uses)),
        )  # fmt: skip
        profile = profiles.create(actor=owner, draft=draft)
        if name == "nightly-eval":
            checks.pause(
                actor=owner, lane=profile.lanes.get(kind="replay"), reason="The relay is moved this week."
            )


def _lane_drafts(made: dict[str, Endpoint], uses: tuple[str, ...]) -> Iterator[tuple[str, LaneDraft]]:
    for kind, name in zip(Lane.Kind.values, uses, strict=True):
        yield (
            kind,
            LaneDraft(
                in_use=bool(name),
                endpoint=made.get(name) if name and name != uses[0] else None,
                latency_limit_ms=1200 if kind == "rollout" else None,
                interval_s=60,
            ),
        )


def _report(owner: Membership, now: datetime) -> None:
    """Order a report each Monday, and make the one that the last Monday would have made."""
    draft = ScheduleDraft(period="week", zone=settings.DISPLAY_ZONE)
    schedule = report_deeds.save_schedule(actor=owner, draft=draft)
    following = schedule.next_at
    ReportSchedule.objects.filter(pk=schedule.pk).update(next_at=now)
    incidents.follow(now)
    reports.make_due(now)
    ReportSchedule.objects.filter(pk=schedule.pk).update(next_at=following)


def _slots(now: datetime) -> list[datetime]:
    """Return the played slots, oldest first: few of them before the last day."""
    newest = now - NEWEST_PLAYED
    ago = {PLAYED_EVERY * n for n in range(LAST_DAY // PLAYED_EVERY, PLAYED // PLAYED_EVERY + 1)}
    ago |= {LAST_DAY_EVERY * n for n in range(LAST_DAY // LAST_DAY_EVERY + 1)}
    return sorted(newest - each for each in ago)


def _play_past(team: Team, now: datetime) -> None:
    """Close runs of two weeks through the ledger, slot by slot, as if they had been climbed."""
    orders = list(
        Check.objects.filter(lane__profile__team=team, lane__in_use=True).select_related(
            "lane__profile__endpoint", "lane__endpoint"
        )
    )
    dice = random.Random(20_261_130)  # noqa: S311 - a picture, not a secret
    for slot in _slots(now):
        runs = Run.objects.bulk_create(
            [
                Run(check_order=order, slot=slot, state="running", attempts=1, profile_version=1)
                for order in orders
            ]
        )
        ledger.close_many([(run, _played(run, slot, now, dice)) for run in runs], slot + timedelta(seconds=9))
    for order in Check.objects.filter(
        pk__in=[each.pk for each in orders], paused_at=None
    ):  # played failures moved their slots
        order.next_run_at = schedule.first_slot(order, now)
        order.save(update_fields=["next_run_at"])


def _played(run: Run, slot: datetime, now: datetime, dice: random.Random) -> Outcome:
    lane = run.check_order.lane
    endpoint = lane.effective_endpoint
    server = next(each for each in SERVERS if endpoint is not None and each.name == endpoint.name)
    latency = server.median_ms * dice.lognormvariate(0, 0.18)
    broke = LONG_BROKE if server.name == "gpu-b02" else BROKE
    reason = server.reason if slot > now - broke else None
    if server.name == OUTAGE_OF and now - OUTAGE_AT - NEWEST_PLAYED <= slot < now - OUTAGE_AT + OUTAGE:
        reason = Reason.QUOTA_EXHAUSTED
    if reason is None and dice.random() < 0.006:
        reason = Reason.UPSTREAM_OVERLOADED
    if reason is Reason.LATENCY_OVER_LIMIT:
        latency, status = 2400 * dice.lognormvariate(0, 0.1), Status.DEGRADED
    else:
        status = Status.DOWN if reason else Status.OK
    steps = (
        Step(Rung.NETWORK, "connect", Status.OK, duration_ms=dice.uniform(0.4, 3)),
        Step(Rung.CHANNEL, "chat", status, reason=reason, duration_ms=latency, tokens=0 if reason else 31),
    )
    return Outcome(
        spec_id=run.code, status=status, rung=Rung.CHANNEL, reason=reason, steps=steps, started=slot,
        duration_ms=latency + 5, tokens=0 if status is Status.DOWN else 31,
        latency_ms=None if status is Status.DOWN else latency,
    )  # fmt: skip


def _free_ports(count: int) -> list[int]:
    """Hold several ports at once, so that they differ, and let them go."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
