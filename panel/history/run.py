"""One run as a ladder of five rungs, from its row and, while they are kept, its full steps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from checks.outcome import SUPPORTING_STEPS
from panel.history.shapes import Changed, EvidenceView, RungView, RunView, StepView
from panel.history.shapes_hosts import LeftoverView, OutputPiece
from panel.models import Leftover, Run, RunOutput

RUNGS = (1, 2, 3, 4, 5)
DRY = 4  # the lowest rung that starts something elsewhere
PHASES = ("dns", "connect", "tls", "wait", "transfer")
PASSED = ("ok", "degraded")
# The steps that every climb of a rung has; what they saw is the rung's one line.
PLAIN = ("resolve", "connect", "tls", "chat")
_WORST_FIRST = ("down", "not_testable", "degraded", "not_reached", "ok")
_CERTIFICATE = ("subject", "issuer", "names", "not_before", "not_after", "tls_version")

_SHOWN = Run.objects.select_related(
    "check_order__lane__profile", "check_order__lane__now", "asked_by", "kept_steps"
)

Plain = dict[str, Any]


def run_view(run: Run) -> RunView:
    """Return the run: at most two queries, one for a run that passed; a deep one costs two more."""
    return _view(_SHOWN.get(pk=run.pk))


def view_of(code: str) -> RunView | None:
    """Return the run with this code, None where there is none: no more queries than `run_view`."""
    row = _SHOWN.filter(code=code).first()
    return _view(row) if row is not None else None


def _view(row: Run) -> RunView:
    lane = row.check_order.lane
    kept = row.kept_steps.steps if hasattr(row, "kept_steps") else None
    passed = lane.now.passed if hasattr(lane, "now") else {}
    rungs = tuple(_rung(row, number, kept or [], passed.get(str(number), "")) for number in RUNGS)
    decisive = _decisive(_of_rung(kept or [], row.rung or 0))
    return RunView(
        code=row.code,
        state=row.state,
        trigger=row.trigger,
        status=row.status,
        rung=row.rung,
        reason=row.reason,
        candidates=tuple(decisive.get("candidates", ())) if decisive else (),
        started_at=row.started_at,
        finished_at=row.finished_at,
        duration_ms=row.duration_ms,
        tokens=row.tokens,
        place=row.place,
        steps=tuple(_step(step) for step in kept or []),
        rungs=rungs,
        kind=lane.kind,
        generation=lane.profile.generation,
        profile_code=lane.profile.code,
        profile_name=lane.profile.name,
        profile_version=row.profile_version,
        key_number=row.key_number,
        slot=row.slot,
        latency_ms=row.latency_ms,
        asked_by=str(row.asked_by or ""),
        steps_kept=kept is not None,
        changed=_changed(row, kept or []),
        offered_base_url=offered_base_url(kept or []),
        top_rung=row.top_rung,
        host_name=row.host_name,
        output_pieces=row.output.count() if row.top_rung > 2 else 0,
        leftover=_leftover(row),
    )


def run_output(run: Run, after: int = 0) -> tuple[OutputPiece, ...]:
    """Return what the run's command printed, piece after piece, after that number: one query."""
    rows = RunOutput.objects.filter(run=run, number__gt=after).order_by("number")
    return tuple(OutputPiece(row.number, row.at, row.text) for row in rows)


def _leftover(run: Run) -> LeftoverView | None:
    """Return what became of what an interrupted dry run left; a run that is under way left nothing yet."""
    if run.top_rung < DRY or run.state != Run.State.MISSED:
        return None
    row = Leftover.objects.filter(run=run).first()
    return LeftoverView(row.tries, row.next_try_at, row.settled_at) if row else None


def offered_base_url(steps: Sequence[Plain]) -> str:
    """Return the neighbour of the lane's base URL that answered as an API; empty when there is none."""
    searched = next((step for step in steps if step["name"] == "candidates"), {})
    offered: str = searched.get("say", {}).get("base_url", "")
    return offered


def _rung(run: Run, number: int, steps: list[Plain], passed: str) -> RungView:
    own = _of_rung(steps, number)
    decisive = _decisive(own) or {}
    evidence = decisive.get("evidence") or next(
        (step["evidence"] for step in reversed(own) if step.get("evidence")), None
    )
    timings = (evidence or {}).get("timings", {})
    return RungView(
        number=number,
        status=decisive.get("status") or _status_from_row(run, number),
        say=_said(own, decisive),
        reason=decisive.get("reason", "") or (run.reason if run.rung == number else ""),
        duration_ms=sum(step.get("duration_ms", 0.0) for step in own) if own else None,
        phases=tuple((phase, timings[phase]) for phase in PHASES if phase in timings),
        last_passed_at=datetime.fromisoformat(passed) if passed else None,
        steps=tuple(_step(step) for step in own),
        evidence=_evidence(evidence) if evidence else None,
        places=tuple(dict.fromkeys(step.get("place") or run.place for step in own)),
    )


def _said(steps: Sequence[Plain], decisive: Plain) -> dict[str, str]:
    """Return what the plain steps saw, and over it what the deciding one did."""
    plain = [step for step in steps if step["name"] in PLAIN]
    return {name: value for step in (*plain, decisive) for name, value in step.get("say", {}).items()}


def _of_rung(steps: Sequence[Plain], number: int) -> list[Plain]:
    return [step for step in steps if step["rung"] == number]


def _decisive(steps: Sequence[Plain]) -> Plain | None:
    """Return the step that says how the rung ended: the worst, and of equals the last. What had nothing to
    ask, for no reason, decides only where nothing else was asked."""
    deciding = [step for step in steps if step["name"] not in SUPPORTING_STEPS]
    return min(reversed(deciding), key=_weight, default=None)


def _weight(step: Plain) -> int:
    idle = step["status"] == "not_testable" and not step.get("reason")
    return len(_WORST_FIRST) if idle else _WORST_FIRST.index(step["status"])


def _status_from_row(run: Run, number: int) -> str:
    """Return what the row alone tells of a rung."""
    asked_for = max(run.top_rung, run.check_order.top_rung if run.status not in PASSED else 0)
    if run.state != Run.State.DONE or run.rung is None or number > asked_for:
        return ""
    if number == run.rung:
        return run.status
    if number < run.rung:
        return "ok"
    return "not_reached"


def _step(step: Plain) -> StepView:
    return StepView(
        rung=step["rung"],
        name=step["name"],
        status=step["status"],
        reason=step.get("reason", ""),
        candidates=tuple(step.get("candidates", ())),
        say=step.get("say", {}),
        duration_ms=step.get("duration_ms", 0.0),
        tokens=step.get("tokens", 0),
        place=step.get("place", ""),
    )


def _evidence(evidence: Plain) -> EvidenceView:
    failure = evidence.get("failure", {})
    certificate = evidence.get("certificate", {})
    return EvidenceView(
        method=evidence.get("method", ""),
        url=evidence.get("url", ""),
        model=evidence.get("model", ""),
        status=evidence.get("status"),
        headers=tuple(evidence.get("headers", {}).items()),
        body=evidence.get("body", ""),
        failure=failure.get("kind", ""),
        message=failure.get("message", ""),
        chain=tuple((name, text) for name, text in failure.get("chain", ())),
        peer=evidence.get("peer", ""),
        addresses=tuple(evidence.get("addresses", ())),
        certificate=tuple((name, _line(certificate[name])) for name in _CERTIFICATE if name in certificate),
    )


def _line(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _changed(run: Run, steps: Sequence[Plain]) -> Changed | None:
    """Compare a failure with the pass before it."""
    if run.status not in ("down", "not_testable"):
        return None
    passes = Run.objects.filter(check_order=run.check_order, status__in=PASSED, slot__lt=run.slot)
    last = passes.select_related("kept_steps").order_by("-slot").first()
    if last is None:
        return None
    profile, key = (last.profile_version, run.profile_version), (last.key_number, run.key_number)
    path = _differences(last.kept_steps.steps, steps) if hasattr(last, "kept_steps") else ()
    if profile[0] == profile[1] and key[0] == key[1] and not path:
        return None
    return Changed(last.finished_at or last.slot, last.code, profile, key, path)


def _differences(before: Sequence[Plain], after: Sequence[Plain]) -> tuple[tuple[str, str, str], ...]:
    """Return what was measured on the way both times, and differs."""
    old, new = _on_the_way(before), _on_the_way(after)
    return tuple((name, old[name], new[name]) for name in old if name in new and old[name] != new[name])


def _on_the_way(steps: Sequence[Plain]) -> dict[str, str]:
    """Return who answered: the peer's address, the certificate shown, the software's name for itself."""
    said: dict[str, str] = {}
    for evidence in (step["evidence"] for step in steps if step.get("evidence")):
        certificate = evidence.get("certificate", {})
        told = {
            "peer": evidence.get("peer", ""),
            "certificate": f"{certificate['issuer']}, {certificate.get('not_after', '')}"
            if certificate
            else "",
            "server": evidence.get("headers", {}).get("server", ""),
        }
        said |= {name: value for name, value in told.items() if value}
    return said
