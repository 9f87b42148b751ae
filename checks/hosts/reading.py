"""One look at a host: its facts and what stands out, or why nobody could look."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from checks.hosts.facts import FACTS_SECONDS, read_facts, to_json
from checks.hosts.findings import findings, worst
from checks.hosts.fit import read_model
from checks.hosts.ground import GroundLost
from checks.hosts.login import offered_key
from checks.hosts.session import ssh_ground
from checks.outcome import Status
from checks.reason import Reason
from checks.spec import HostSpec

LOGIN_SECONDS: Final = 40.0  # jump hosts included
OFFER_SECONDS: Final = 20.0
MOST_MODELS: Final = 4  # folders of one look


@dataclass(frozen=True, slots=True)
class HostOutcome:
    """What one look at a host says.

    `status` is NOT_TESTABLE where nobody could log in, with the reason; else the worst of the findings, whose
    first gives the reason. `facts` is `checks.hosts.facts.to_json`'s object, None without a login. `findings`
    are {"reason", "status", "say"}, worst first. `models` holds what was found in the folders of models that
    were asked for (`checks.hosts.fit.ModelFacts` as JSON), by their paths. `offered_key` is the host key that
    was shown (one OpenSSH line) where it is not an accepted one; empty otherwise.
    """

    status: Status
    reason: Reason | None = None
    say: Mapping[str, str] = field(default_factory=dict)
    facts: dict[str, Any] | None = None
    findings: tuple[dict[str, Any], ...] = ()
    models: dict[str, Any] = field(default_factory=dict)
    offered_key: str = ""


def look_at(spec: HostSpec, *, run: str, models: Sequence[str] = ()) -> HostOutcome:
    """Look as `read_host` does, and wait; not for use inside a running event loop."""
    return asyncio.run(read_host(spec, run=run, models=models))


def ask_host_key(spec: HostSpec) -> HostOutcome:
    """Return the host key that the machine shows as `offered_key`, or the reason why it shows none; nobody
    logs in there. Not for use inside a running event loop."""
    return asyncio.run(_offered(spec))


async def read_host(spec: HostSpec, *, run: str, models: Sequence[str] = ()) -> HostOutcome:
    """Log in, read the facts and the folders of models, judge the facts; `run` marks what is started there.
    Never raises for what the host does."""
    try:
        async with ssh_ground(spec, seconds=LOGIN_SECONDS) as ground:
            facts = await read_facts(
                ground, workdir=spec.workdir, python=spec.python, activate=spec.activate, run=run,
                seconds=FACTS_SECONDS,
            )  # fmt: skip
            seen = {path: asdict(await read_model(ground, path, run=run)) for path in models[:MOST_MODELS]}
    except GroundLost as lost:
        return await _lost(spec, lost)
    found = findings(facts)
    status = worst(found)
    first = found[0] if found and status is not Status.OK else None
    return HostOutcome(
        status=status,
        reason=first.reason if first else None,
        say=first.say if first else {},
        facts=to_json(facts),
        findings=tuple(
            {"reason": str(each.reason), "status": str(each.status), "say": dict(each.say)} for each in found
        ),
        models=seen,
    )


async def _lost(spec: HostSpec, lost: GroundLost) -> HostOutcome:
    """Where the host key is to blame, fetch the one that it shows now, for a lead to see."""
    offered = ""
    if lost.reason in (Reason.HOST_KEY_CHANGED, Reason.HOST_KEY_UNKNOWN):
        offered = (await _offered(spec)).offered_key
    return HostOutcome(Status.NOT_TESTABLE, lost.reason, lost.say, offered_key=offered)


async def _offered(spec: HostSpec) -> HostOutcome:
    try:
        line = await offered_key(spec, seconds=OFFER_SECONDS)
    except GroundLost as lost:
        return HostOutcome(Status.NOT_TESTABLE, lost.reason, lost.say)
    return HostOutcome(Status.OK, offered_key=line)
