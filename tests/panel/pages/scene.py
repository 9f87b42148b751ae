"""A team in the middle of its day: four profiles, lanes in every state, days of hours behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from importlib import import_module
from typing import Any

from django.apps import apps

from checks.outcome import Certificate, Evidence, Outcome, Rung, Status, Step, Timings
from checks.reason import Reason
from panel import incidents, ledger, rollups
from panel.actions import audit
from panel.actions import incidents as deeds
from panel.models import (
    Check,
    Incident,
    Lane,
    LaneHour,
    Membership,
    Profile,
    ProfileVersion,
    Role,
    Run,
    RunOutput,
    Team,
)
from tests import make
from tests.panel.notices import told

NOW = datetime(2026, 11, 30, 6, 25, 10, tzinfo=UTC)
KEY = "sk-canary-4f1d0c9a7be2c41f"
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8m0b7y1i3l2h2c0u0v1o9t5n4k3m2x1w0q9p8r7s6t preflight"
OTHER_HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHQKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS"
HOSTILE = '<script>alert("x")</script>'


@dataclass(frozen=True)
class Scene:
    """The team's people and what a test looks at first."""

    owner: Membership
    lead: Membership
    engineer: Membership
    viewer: Membership
    down: Profile
    now: datetime

    @property
    def slug(self) -> str:
        return self.owner.team.slug

    def member(self, role: str) -> Membership:
        found = getattr(self, role)
        assert isinstance(found, Membership)
        return found


def scene(now: datetime = NOW, days: int = 2) -> Scene:
    """Make the team as it stands at `now`, with so many days of hours behind it."""
    team = make.team("atlas-agents", name="Atlas Agents")
    people = {
        role.name.lower(): make.member(team, role, make.user(f"{email}@team.example", name=name))
        for role, email, name in (
            (Role.OWNER, "jonas", "Jonas Weber"),
            (Role.LEAD, "lin", "Lin Yue"),
            (Role.ENGINEER, "marta", "Marta Silva"),
            (Role.VIEWER, "chen", "Chen Bo"),
        )
    }
    relay = make.endpoint(team, KEY, name="relay-main", base_url="https://relay.example/v1")
    relay.key_versions.update(expires_at=now - timedelta(minutes=25), sealed_by=people["lead"].user)
    spare = make.endpoint(
        team, "sk-test-fedcba9876543210", name="deepseek-team", base_url="https://llm.example/v1"
    )
    spare.key_versions.update(expires_at=now + timedelta(days=6))
    host = make.endpoint(
        team, None, name="gpu-a12", base_url="http://gpu-a12.example:8000/v1", needs_key=False, kind="vllm"
    )
    grpo = _profile(team, "grpo-prod", "production", relay, "qwen3-32b-instruct", rollout=host)
    canary = _profile(team, "grpo-canary", "staging", relay, "qwen3-32b-instruct", rollout=host)
    search = _profile(team, "search-agent", "production", spare, "deepseek-v3.2", rollout=host)
    nightly = _profile(team, "nightly-eval", "batch", spare, "deepseek-v3.2", rollout=host)
    _live(
        [(profile, "agent", "ooodd") for profile in (grpo, canary)]
        + [(profile, "replay", "ooooo") for profile in (grpo, canary)]
        + [(profile, "rollout", "ooogo") for profile in (grpo, canary)]
        + [(search, "agent", "ooooo"), (search, "replay", "oooon"), (search, "rollout", "ooggg")],
        now,
        days,
    )
    _live([(nightly, "rollout", "ooooo")], now - timedelta(minutes=40), days)
    _pause(nightly, ("agent", "replay"), people["owner"], now)
    with_audit(people["lead"], grpo)
    with_hosts(people["lead"], grpo, now)
    with_channels(team, now)
    with_incident(people["engineer"], people["lead"], now)
    make.report_schedule(team, next_at=now + timedelta(days=1))
    make.report(team, now, kind="day")
    ledger.beat("tick", now - timedelta(seconds=1))
    return Scene(down=grpo, now=now, **people)


def with_audit(lead: Membership, profile: Profile) -> None:
    """A few deeds, so that the page of activity has lines."""
    from django.db import transaction

    with transaction.atomic():
        for verb, noun, label in (
            ("create", "profile", profile.name),
            ("export", "bundle", f"{profile.name} v12"),
        ):
            audit.record(
                team=lead.team, actor=lead.user, verb=verb, noun=noun, code=profile.code, label=label
            )


def with_channels(team: Team, now: datetime) -> None:
    """Three channels: one that works, one that failed with a message given up, one for mail."""
    oncall = told.channel(
        team, "dingtalk", secret="https://oapi.example/robot", sign="SEC-0123456789abcdef", name="oncall",
        shown="oapi.example …9f31", told_at=now - timedelta(minutes=9),
    )  # fmt: skip
    told.route(oncall, environments=["production"], quiet_from=time(22), quiet_to=time(7))
    failed = told.channel(
        team, "slack", secret="https://hooks.example/x", name="training", shown="hooks.example …x8Qz",
        failed_at=now, failure="server_fault", say={"status": "500"},
    )  # fmt: skip
    told.route(failed, after_min=15)
    told.queued(failed, state="dead", failure="unclear", made_at=now - timedelta(hours=1), attempts=1)
    told.channel(team, "mail", name="leads", settings={"to": ["lin@team.example"]}, language="zh-hans")


def with_incident(engineer: Membership, lead: Membership, now: datetime) -> None:
    """The incident of the lanes that are down: taken, noted, handed over, told."""
    incidents.follow(now)
    row = Incident.objects.get(worst="down")
    deeds.take(actor=engineer, incident=row)
    deeds.note(actor=engineer, incident=row, text=f"The relay says so too. {HOSTILE}")
    deeds.hand_over(actor=engineer, incident=row, to=lead)
    say = {"channel": "oncall", "kind": "opened"}
    row.entries.create(at=now, kind="told", say=say)


def with_hosts(lead: Membership, profile: Profile, now: datetime) -> None:
    """Four hosts: one told its facts, one shows another key, one waits for its key to be accepted, one is
    bare; the first has the profile's recipe, and one of its runs printed something."""
    keyed = {"private": KEY, "public_key": PUBLIC_KEY, "key_sealed_at": now, "key_sealed_by": lead.user}
    trusted = keyed | {"host_key_at": now, "host_key_by": lead.user, "next_reading_at": now}
    a12 = make.host(
        lead.team, name="gpu-a12", address="gpu-a12.example", workdir="/data/grpo", state="degraded",
        reason="gpu_memory_held", evidence_at=now, **trusted,
    )  # fmt: skip
    make.reading(
        a12, now - timedelta(minutes=12), state="done", status="degraded", reason="gpu_memory_held",
        finished_at=now - timedelta(minutes=12), duration_ms=2310, facts=host_facts(),
        findings=[{"reason": "gpu_memory_held", "say": {"process": HOSTILE}, "status": "degraded"}],
    )  # fmt: skip
    make.host(lead.team, name="gpu-a13", offered_key=OTHER_HOST_KEY, offered_at=now, **trusted)
    make.host(lead.team, name="gpu-b01", host_key="", offered_key=OTHER_HOST_KEY, offered_at=now, **keyed)
    make.host(lead.team, name="gpu-b02", host_key="")
    make.recipe(profile, a12, where="both", agent="sql_agent:SqlAgent", command=["python", "train.py"])
    run = Run.objects.filter(check_order__lane__profile=profile, status="down").latest("slot")
    RunOutput.objects.create(run=run, number=1, at=now, text=f"step 1\n{HOSTILE}\n")


def host_facts() -> dict[str, Any]:
    """What a host with four GPUs says of itself, as its row keeps it."""
    gib = 1 << 30
    gpus = [
        {
            "index": n,
            "name": "NVIDIA A100-SXM4-80GB",
            "total": 80 * gib,
            "used": used * gib,
            "utilization": load,
        }
        for n, used, load in ((0, 76, 98), (1, 76, 97), (2, 0, 0), (3, 12, 0))
    ]
    holders = [
        {
            "pid": 48211 + n,
            "gpu": n,
            "used": 75 * gib,
            "name": "ray::WorkerDict",
            "user": "lin",
            "alive": True,
        }
        for n in (0, 1)
    ]
    holders.append({"pid": 3311, "gpu": 3, "used": 12 * gib, "name": HOSTILE, "alive": False})
    packages = {"agentlightning": "1.0.2", "verl": "0.9.1", "vllm": "0.20.2", "torch": "2.10.0"}
    return {
        "system": {"hostname": "gpu-a12", "system": "Ubuntu 22.04", "kernel": "5.15.0", "sees_all": True},
        "memory": {"total": 1007 * gib, "available": 611 * gib},
        "disks": [
            {"role": "workdir", "path": "/data", "total": 3500 * gib, "free": 190 * gib, "writable": True},
            {"role": "root", "path": "/", "total": 200 * gib, "free": 3 * gib, "writable": True},
        ],
        "gpus": {"state": "ok", "driver": "550.127.05", "cuda": "12.4", "gpus": gpus, "holders": holders},
        "ports": [
            {"address": "0.0.0.0", "port": 8265, "user": "lin", "pid": 3920, "name": "raylet"},
            {"address": "127.0.0.1", "port": 8000, "name": "vllm", "traits": ["vllm_dev"]},
        ],
        "team": {"path": "/opt/agl/bin/python", "name": "agl", "version": "3.12.4", "packages": packages},
        "python": {"path": "/usr/bin/python3", "version": "3.10.12"},
        "environment": [
            {"name": "HTTP_PROXY", "value": "http://proxy.example:3128", "length": 25, "where": "both"},
            {"name": "OPENAI_API_KEY", "value": "sk-", "length": 51, "where": "login"},
        ],
        "clock_skew": -74.2, "skew_error": 0.2, "failed": ["conda"],
    }  # fmt: skip


def _profile(team, name, environment, endpoint, model, *, rollout) -> Profile:  # type: ignore[no-untyped-def]
    row = make.profile(team, name=name, environment=environment, endpoint=endpoint, model=model)
    row.lanes.filter(kind="rollout").update(endpoint=rollout, model="qwen3-8b-base", latency_limit_ms=2000)
    snapshot = {"name": name, "lanes": [{"kind": "agent", "model": model, "base_url": endpoint.base_url}]}
    ProfileVersion.objects.filter(profile=row).update(snapshot=snapshot)
    changed = {
        "name": name,
        "lanes": [{"kind": "agent", "model": model, "base_url": "https://relay.example/v2"}],
    }
    ProfileVersion.objects.create(profile=row, number=2, snapshot=changed)
    Profile.objects.filter(pk=row.pk).update(version=2)
    return row


def _live(stories: list[tuple[Profile, str, str]], now: datetime, days: int) -> None:
    """Give lanes (profile, kind) their past hours, then one real run a letter up to now, a batch a time."""
    checks = Check.objects.select_related("lane__profile")
    lanes = [
        (checks.get(lane__profile=profile, lane__kind=kind), letters) for profile, kind, letters in stories
    ]
    LaneHour.objects.bulk_create([hour for check, _ in lanes for hour in hours(check.lane, now, days)])
    import_module("panel.migrations.0013_days_from_hours").fill(apps, None)
    for number in range(5):
        at = now - timedelta(minutes=2 * (5 - number), seconds=-90)
        runs = {
            make.run(check, at, key_number=1).pk: (check.lane.kind, letters[number])
            for check, letters in lanes
        }
        started = ledger.start(list(runs), at)
        ledger.close_many(
            [(run, outcome(run, *runs[run.pk], at)) for run in started], at + timedelta(seconds=1)
        )


def hours(lane: Lane, now: datetime, days: int) -> list[LaneHour]:
    """The hours of a lane up to now: mostly well, with a gap."""
    base = {"agent": 410, "replay": 300, "rollout": 1200}[lane.kind]
    rows = []
    for back in range(1, 24 * days):
        hour = (now - timedelta(hours=back)).replace(minute=0, second=0, microsecond=0)
        if back in (15, 16):
            continue
        bad = "degraded" if back in (20, 200, 410) else "down" if back in (300, 301) else "ok"
        wave = base * (1 + 0.16 * math.sin(back / 4)) * (2.6 if bad == "degraded" else 1)
        half = rollups.pack(sum(rollups.one(wave * (0.9 + 0.05 * n)) for n in range(12)))
        rows.append(
            LaneHour(
                lane=lane, hour=hour, worst_first=bad, worst_second="ok", latency_first=half,
                latency_second=half, **({"ok": 24} if bad == "ok" else {"ok": 18, bad: 6}),
            )
        )  # fmt: skip
    return rows


def _pause(profile: Profile, kinds: tuple[str, ...], by: Membership, now: datetime) -> None:
    Check.objects.filter(lane__profile=profile, lane__kind__in=kinds).update(
        paused_at=now - timedelta(days=3), paused_by=by.user, next_run_at=None
    )


NETWORK = Evidence(
    url="https://relay.example/v1", peer="192.0.2.7:443", addresses=("192.0.2.7",),
    timings=Timings(dns_ms=3, connect_ms=11, tls_ms=24),
    certificate=Certificate(
        "CN=Test CA", "CN=relay.example", ("relay.example",), NOW, NOW + timedelta(days=60), "TLSv1.3"
    ),
)  # fmt: skip
PEER = {"peer": "192.0.2.7:443", "tls_version": "TLSv1.3", "addresses": "192.0.2.7"}


def outcome(run: Run, kind: str, letter: str, at: datetime) -> Outcome:
    """An outcome as the engine gives it: o ok, g slow, d key refused, n key missing."""
    reached = Step(Rung.NETWORK, "tls", Status.OK, say=PEER, evidence=NETWORK, duration_ms=38)
    status, reason, code, body = {
        "o": (Status.OK, None, 200, '{"choices": [{"message": {"content": "Yes."}}]}'),
        "g": (Status.DEGRADED, Reason.LATENCY_OVER_LIMIT, 200, '{"choices": []}'),
        "d": (
            Status.DOWN,
            Reason.AUTH_INVALID_KEY,
            401,
            f'{{"error": {{"message": "Key expired {HOSTILE}"}}}}',
        ),
        "n": (Status.NOT_TESTABLE, Reason.KEY_MISSING, None, ""),
    }[letter]
    took = {"agent": 288.0, "replay": 301.0, "rollout": 3410.0 if letter == "g" else 1240.0}[kind]
    evidence = Evidence(
        url="https://relay.example/v1/chat/completions", model="qwen3-32b-instruct", status=code, body=body,
        headers={"content-type": "application/json", "x-request-id": "req_7c41"}, peer="192.0.2.7:443",
        timings=Timings(dns_ms=1, connect_ms=10, tls_ms=22, wait_ms=took - 40, transfer_ms=7),
    )  # fmt: skip
    chat = Step(
        Rung.CHANNEL, "chat", status, reason, evidence=evidence if code else None, duration_ms=took,
        tokens=12, say={"model": "qwen3-32b-instruct", "status": str(code or "")},
    )  # fmt: skip
    latency = took if letter in "og" else None
    return Outcome(run.code, status, Rung.CHANNEL, reason, (reached, chat), at, took + 38, 12, latency)
