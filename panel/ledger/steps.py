"""The full steps of a run as plain JSON, without what is empty, capped.

The shape is that of `checks.outcome.Step`: enums as their values, times as ISO text, mappings and
sequences as they are. `panel.history.run` reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from checks.outcome import Certificate, Evidence, Failure, Step, Timings

BODY_KEPT = 4096
TEXT_KEPT = 1024
HEADERS_KEPT = 40
LISTED = 20

Plain = dict[str, Any]


def to_json(steps: Iterable[Step]) -> list[Plain]:
    """Return the steps as JSON values."""
    return [_step(step) for step in steps]


def printable(text: str) -> str:
    """Return the text without NUL, which no column and no JSON of PostgreSQL takes."""
    return text.replace("\x00", "\ufffd")


def scrubbed(value: Any) -> Any:
    """Return a JSON value whose texts hold no NUL."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(str(name)): scrubbed(item) for name, item in value.items()}
    return [scrubbed(item) for item in value] if isinstance(value, list | tuple) else value


def _step(step: Step) -> Plain:
    return _without_empty(
        {
            "rung": int(step.rung),
            "name": step.name,
            "status": str(step.status),
            "reason": step.reason and str(step.reason),
            "candidates": [str(reason) for reason in step.candidates],
            "say": {name: value[:TEXT_KEPT] for name, value in step.say.items()},
            "duration_ms": round(step.duration_ms, 2),
            "tokens": step.tokens,
            "place": step.place,
            "evidence": step.evidence and _evidence(step.evidence),
        }
    )


def _evidence(evidence: Evidence) -> Plain:
    headers = list(evidence.headers.items())[:HEADERS_KEPT]
    return _without_empty(
        {
            "method": evidence.method,
            "url": evidence.url[:TEXT_KEPT],
            "model": evidence.model[:TEXT_KEPT],
            "status": evidence.status,
            "headers": {name: value[:TEXT_KEPT] for name, value in headers},
            "body": evidence.body[:BODY_KEPT],
            "failure": evidence.failure and _failure(evidence.failure),
            "peer": evidence.peer,
            "addresses": list(evidence.addresses[:LISTED]),
            "certificate": evidence.certificate and _certificate(evidence.certificate),
            "timings": _timings(evidence.timings),
            "proxy": _proxy(evidence),
        }
    )


def _proxy(evidence: Evidence) -> str:
    """Return the variable that led through a proxy, and the proxy, as the place's environment has them."""
    variable, environment = evidence.context.get("by_variable"), evidence.context.get("env")
    if not isinstance(variable, str) or not isinstance(environment, Mapping):
        return ""
    return f"{variable}={environment.get(variable, '')}"[:TEXT_KEPT]


def _failure(failure: Failure) -> Plain:
    return _without_empty(
        {
            "kind": str(failure.kind),
            "message": failure.message[:TEXT_KEPT],
            "phase": failure.phase and str(failure.phase),
            "errno": failure.errno,
            "chain": [[name, text[:TEXT_KEPT]] for name, text in failure.chain[:LISTED]],
        }
    )


def _certificate(certificate: Certificate) -> Plain:
    return _without_empty(
        {
            "issuer": certificate.issuer[:TEXT_KEPT],
            "subject": certificate.subject[:TEXT_KEPT],
            "names": [name[:TEXT_KEPT] for name in certificate.names[:LISTED]],
            "not_before": certificate.not_before and certificate.not_before.isoformat(),
            "not_after": certificate.not_after and certificate.not_after.isoformat(),
            "tls_version": certificate.tls_version,
        }
    )


def _timings(timings: Timings) -> Plain:
    phases = {
        "dns": timings.dns_ms,
        "connect": timings.connect_ms,
        "tls": timings.tls_ms,
        "wait": timings.wait_ms,
        "transfer": timings.transfer_ms,
    }
    return {name: round(ms, 2) for name, ms in phases.items() if ms is not None}


def _without_empty(values: Plain) -> Plain:
    return {name: value for name, value in values.items() if value not in (None, "", [], {}, 0)}
