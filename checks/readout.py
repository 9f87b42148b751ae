"""An outcome for a terminal and for a program: one text, one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from typing import Final

from checks.outcome import Outcome, Status, Step
from checks.reason import Reason
from checks.reasons import entry
from checks.spec import LaneSpec

_MARKS: Final = {
    Status.OK: "ok",
    Status.DEGRADED: "WARN",
    Status.DOWN: "FAIL",
    Status.NOT_TESTABLE: "not tested",
    Status.NOT_REACHED: "not reached",
}
_SENTENCES: Final = {
    Status.OK: "Passed up to rung {rung} of 5, {name}.",
    Status.DEGRADED: "Passed up to rung {rung} of 5, {name}, but not well.",
    Status.DOWN: "Stopped at rung {rung} of 5, {name}.",
    Status.NOT_TESTABLE: "Could not be tested at rung {rung} of 5, {name}.",
    Status.NOT_REACHED: "Nothing was reached.",
}
_SHOWN_FACTS: Final = 5
_FACT_LENGTH: Final = 120
_SEEN_LENGTH: Final = 300


def as_json(outcome: Outcome) -> str:
    """Return the outcome as one JSON object on one line."""
    return json.dumps(asdict(outcome), default=_plain, ensure_ascii=True)


def as_text(spec: LaneSpec, outcome: Outcome) -> str:
    """Return the ladder, its sentence and, where something is wrong, cause and fix, in English."""
    lines = [f"{spec.id}: {spec.lane} lane, {spec.model or 'no model'} at {spec.base_url}", ""]
    for rung, steps in groupby(outcome.steps, key=lambda step: step.rung):
        lines.append(f"{int(rung)} {rung.name.lower()}")
        lines += [_step_line(step) for step in steps]
    lines += ["", _sentence(outcome)]
    if outcome.reason is not None:
        lines += _explained(outcome, outcome.reason)
        lines += _seen(outcome, outcome.reason)
    return "\n".join(_printable(line) for line in lines)


def _sentence(outcome: Outcome) -> str:
    text = _SENTENCES[outcome.status].format(rung=int(outcome.rung), name=outcome.rung.name.lower())
    spent = f" {outcome.tokens} tokens." if outcome.tokens else ""
    return f"{text} {outcome.duration_ms:.0f} ms.{spent}"


def _step_line(step: Step) -> str:
    took = f"{step.duration_ms:9.1f} ms" if step.duration_ms else " " * 12
    facts = [f"{name} {value[:_FACT_LENGTH]}" for name, value in step.say.items() if value][:_SHOWN_FACTS]
    name = (
        f"{step.name} ({step.place.removeprefix('host:')})" if step.place.startswith("host:") else step.name
    )
    return f"  {_MARKS[step.status]:<12}{name:<16}{took}  {', '.join(facts)}".rstrip()


def _explained(outcome: Outcome, reason: Reason) -> Iterator[str]:
    told = entry(reason, "en")
    yield f"{told.title} [{reason}]"
    yield f"Cause: {told.cause}"
    for number, step in enumerate(told.fix, 1):
        yield f"Fix {number}: {step}"
    yield from _told_apart(outcome, reason)
    if outcome.offered_base_url:
        yield f"This base URL answered instead: {outcome.offered_base_url}"


def _told_apart(outcome: Outcome, reason: Reason) -> Iterator[str]:
    """The other causes that the evidence fits, each with the probe that would decide for it."""
    others = [candidate for candidate in outcome.candidates if candidate is not reason]
    if not others:
        return
    yield f"What decides: {entry(reason, 'en').probe}"
    yield "It may also be:"
    for candidate in others:
        told = entry(candidate, "en")
        yield f"  {told.title} [{candidate}]"
        yield f"    {told.probe}"


def _seen(outcome: Outcome, reason: Reason) -> Iterator[str]:
    """The answer or the error that the reason was read from."""
    evidence = next((step.evidence for step in outcome.steps if step.reason is reason), None)
    if evidence is None:
        return
    if evidence.failure is not None:
        yield f"Seen: {evidence.failure.message[:_SEEN_LENGTH]}"
    if evidence.status is not None:
        yield f"Seen: HTTP {evidence.status} {' '.join(evidence.body.split())[:_SEEN_LENGTH]}".rstrip()


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _printable(line: str) -> str:
    """Terminals obey control characters, and some of these words came from a server."""
    return "".join(character if character.isprintable() else "\ufffd" for character in line)
