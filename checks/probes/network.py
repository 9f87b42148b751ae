"""Rung 1: does the name resolve to an allowed address, does it accept, does its certificate convince."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from checks.egress import Exchange, evidence_of, reach
from checks.outcome import Certificate, Evidence, Phase, Rung, Status, Step
from checks.probes.asking import Ask, Found, broken_step

NETWORK_SECONDS: Final = 10.0
EXPIRES_SOON: Final = timedelta(days=14)

_STEP_OF: Final = {Phase.BUILD: "resolve", Phase.DNS: "resolve", Phase.CONNECT: "connect", Phase.TLS: "tls"}


async def network(ask: Ask) -> Found:
    """Resolve, connect and shake hands once; no request is sent."""
    spec = ask.spec
    reached = await reach(
        spec.base_url, policy=spec.egress, deadline=ask.seconds(NETWORK_SECONDS), ca_file=spec.ca_file
    )
    evidence = evidence_of(reached, lane=spec.lane, server=spec.kind)
    names = ["resolve", "connect"] + (["tls"] if spec.base_url.startswith("https:") else [])
    return Found(tuple(_steps(names, reached, evidence, ask)))


def _steps(names: list[str], reached: Exchange, evidence: Evidence, ask: Ask) -> list[Step]:
    broken = None
    if reached.failure is not None:
        broken = _STEP_OF[reached.failure.phase or Phase.DNS]
    steps: list[Step] = []
    for name in names:
        say, milliseconds = _facts(name, reached, ask.now)
        if name == broken:
            steps.append(broken_step(Rung.NETWORK, name, ask.spec, evidence, say))
        elif broken is not None and any(step.name == broken for step in steps):
            steps.append(Step(Rung.NETWORK, name, Status.NOT_REACHED))
        else:
            steps.append(Step(Rung.NETWORK, name, Status.OK, say=say, duration_ms=milliseconds or 0.0))
    if broken is None:
        steps[-1] = replace(steps[-1], evidence=evidence)
    return steps


def _facts(name: str, reached: Exchange, now: datetime) -> tuple[dict[str, str], float | None]:
    """What the sentence of a step may name, and how long the step took."""
    if name == "resolve":
        return {"addresses": ", ".join(reached.addresses)}, reached.timings.dns_ms
    if name == "connect":
        return {"peer": reached.peer}, reached.timings.connect_ms
    return _certificate_facts(reached.certificate, now), reached.timings.tls_ms


def _certificate_facts(certificate: Certificate | None, now: datetime) -> dict[str, str]:
    if certificate is None:
        return {}
    say = {
        "issuer": certificate.issuer,
        "subject": certificate.subject,
        "tls_version": certificate.tls_version,
    }
    if certificate.not_after is not None:
        left = certificate.not_after - now
        say |= {"not_after": certificate.not_after.isoformat(), "days_left": str(left.days)}
        if left < EXPIRES_SOON:
            say["expires_soon"] = "yes"
    return say
