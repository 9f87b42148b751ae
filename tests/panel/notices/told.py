"""Channels, incidents and messages for tests, and servers that catch what is sent."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from typing import Any

from checks.spec import Masked
from panel import vault
from panel.models import Channel, Incident, IncidentLane, Notice, Route, Team
from panel.notices.message import Message, Part, Target
from tests import make
from tests.checks.local import Behaviour

NOW = datetime(2026, 11, 30, 6, 25, 10, tzinfo=UTC)
SIGN = "SEC-canary-0123456789abcdef"
HOSTILE = "<!channel> & <@U1> *b* [x](http://evil.example) `c`"


def message(**fields: Any) -> Message:
    """A message with each kind of part, and team words that would mark up."""
    said: dict[str, Any] = {
        "code": "n7k2m9q4",
        "kind": "opened",
        "title": "Down: The key is refused (#12)",
        "made_at": NOW,
        "state": "down",
        "team": "atlas-agents",
        "parts": (
            Part("Cause", "The endpoint refuses the key."),
            Part("Fix", items=("Get a new key.", "Add it here.")),
            Part("Lanes", items=(f"grpo {HOSTILE}, Agent inference: Down", "and 28 more")),
            Part("Since", "2026-11-30 06:25 (UTC)"),
        ),
        "link": "https://preflight.example/t/atlas-agents/incidents/12/",
        "link_label": "Open incident #12",
        "facts": {"number": 12, "reason": "auth_invalid_key"},
    }
    return Message(**(said | fields))


def target(kind: str, url: str = "https://hooks.example/send?token=t0p", **settings: str) -> Target:
    """A channel as a sender sees it, with an address (or token) and a signing secret."""
    return Target(kind, settings, Masked(url), Masked(SIGN))


def channel(team: Team, kind: str = "webhook", secret: str = "", sign: str = "", **fields: Any) -> Channel:
    """A channel of the team with its secrets sealed."""
    said = {"name": f"{kind} {Channel.objects.count()}", "origin": "https://hooks.example"}
    row = Channel.objects.create(team=team, kind=kind, secret_number=1, **(said | fields))
    for part, value in (("secret", secret), ("sign", sign)):
        context = vault.channel_context(row.code, part, 1, row.origin)
        if value:
            setattr(row, f"sealed_{part}", vault.seal(Masked(value), team=team, context=context))
    row.save()
    return row


def route(channel: Channel, **fields: Any) -> Route:
    """A route that sends everything to the channel, unless told otherwise."""
    return Route.objects.create(team=channel.team, channel=channel, **fields)


def incident(team: Team, lanes: int = 1, at: datetime = NOW, **fields: Any) -> Incident:
    """An open incident of a refused key over so many lanes, each of a profile of its own."""
    said = {"reason": "auth_invalid_key", "rung": 2, "worst": "down", "opened_at": at}
    number = Incident.objects.filter(team=team).count() + 1
    row = Incident.objects.create(team=team, number=number, **({"cause": f"key|{number}"} | said | fields))
    endpoint = team.endpoints.first() or make.endpoint(team)
    for _ in range(lanes):
        profile = make.profile(team, lanes=("agent",), endpoint=endpoint, environment="production")
        IncidentLane.objects.create(
            incident=row, lane=profile.lanes.get(kind="agent"), state="down", reason=row.reason, joined_at=at
        )
    return row


def close(incident: Incident, at: datetime) -> None:
    """All lanes of the incident recovered."""
    incident.lanes.update(recovered_at=at)
    incident.closed_at = at
    incident.save()


def queued(channel: Channel, **fields: Any) -> Notice:
    """A test notice to the channel that is due."""
    now = datetime.now(UTC)
    said: dict[str, Any] = {"kind": "watchdog", "made_at": now, "due_at": now - timedelta(seconds=1)}
    said["data"] = {"what": "silent", "since": NOW.isoformat()}
    key = f"test:{Notice.objects.count()}"
    return Notice.objects.create(channel=channel, key=key, **(said | fields))


def answering(status: int = 200, body: object = None, **headers: str) -> Behaviour:
    """A server that answers each request so."""
    content = json.dumps(body).encode() if body is not None else b"ok"
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    head = "\r\n".join(lines).encode() + b"\r\n\r\n"

    def behave(connection: socket.socket, request: bytes) -> None:
        connection.sendall(head + content)

    return behave


def dropping(connection: socket.socket, request: bytes) -> None:
    """A server that hangs up when it has read the request."""
