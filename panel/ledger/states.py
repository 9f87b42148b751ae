"""What the newest evidence makes of a lane: thresholds both ways, one letter a result.

A lane is down once `down_k` of its last `down_n` results failed, and up again once `up_k` of the
last `up_n` passed; "degraded" (a pass over a limit) follows the same two rules. Results that were
not testable say so at once, and count neither as failures nor as passes. A failure that two places
saw in one climb counts twice: the second place confirms the first. In maintenance only a clean pass counts:
the rest is kept as evidence, and moves no state.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from checks import Outcome, Status, Step
from panel import timetable
from panel.ledger.opening import SHALLOW
from panel.models import Check, LaneState, Run, Transition

LETTERS = {Status.OK: "o", Status.DEGRADED: "g", Status.DOWN: "d", Status.NOT_TESTABLE: "n"}
PASSES = "og"
PASSED = (Status.OK, Status.DEGRADED)
REMEMBERED = 10
# A lane flaps that changed so often within the letters remembered, until so many of them changed nothing.
FLAPS, CALM = 4, 5
PLACES_THAT_COUNT = 2


def next_state(before: str, recent: str, check: Check) -> str:
    """Return the confirmed state after the newest letter of `recent` (see `LaneState.recent`)."""
    newest, told = recent[-1], recent.replace("n", "")
    if newest == "n":
        return "not_testable"
    window, way_up = told[-check.down_n :], told[-check.up_n :]
    if newest == "d":
        held = before if before in ("ok", "degraded", "down") else "unknown"
        return "down" if window.count("d") >= check.down_k else held
    if before == "down" and _count(way_up, PASSES) < check.up_k:
        return "down"
    if newest == "g":
        return "degraded" if before != "ok" or _count(window, "gd") >= check.down_k else "ok"
    return "degraded" if before == "degraded" and way_up.count("o") < check.up_k else "ok"


def is_flapping(recent: str, check: Check, *, already: bool) -> bool:
    """Tell whether a lane with these letters changes its confirmed state too often to be told each time."""
    if len(set(recent)) < 2:
        return False
    states = ["unknown"]
    for end in range(1, len(recent) + 1):
        states.append(next_state(states[-1], recent[:end], check))
    changes = [before != after for before, after in pairwise(states) if before != "unknown"]
    return any(changes[-CALM:]) and (already or sum(changes) >= FLAPS)


def advance(state: LaneState, run: Run, outcome: Outcome, at: datetime) -> Transition | None:
    """Make the run, closed at `at`, its lane's newest evidence; return the transition it confirms, if any."""
    decides = _decides(state, run, outcome)
    _climbed(state, run, outcome, at)
    if not decides:
        return None
    state.status, state.rung, state.reason = run.status, run.rung, run.reason
    state.last_run = run
    if outcome.status in PASSED:
        state.last_pass = run
    if maintained(state, at) and outcome.status is not Status.OK:
        return None
    letters = LETTERS[outcome.status] * _seen_from(outcome)
    state.recent = (state.recent + letters)[-REMEMBERED:]
    before, after = state.state, next_state(state.state, state.recent, run.check_order)
    if after != before or state.flapping:
        state.flapping = is_flapping(state.recent, run.check_order, already=state.flapping)
    if after == before:
        return None
    state.state, state.since = after, at
    return Transition(
        lane_id=state.lane_id, at=at, before=before, after=after, rung=run.rung,
        reason=run.reason, run=run,
    )  # fmt: skip


def maintained(state: LaneState, at: datetime) -> bool:
    """Tell whether the lane is in maintenance then: failures are expected, only a clean pass counts."""
    since, until = state.maintained_since, state.maintained_until
    return since is not None and until is not None and since <= at < until


def _decides(state: LaneState, run: Run, outcome: Outcome) -> bool:
    """Tell whether the outcome may move the lane's state.

    A pass that stopped below the rung that is broken says nothing of that rung, and a break above what the
    standing order asks for says nothing of the lane.
    """
    ordered = run.check_order.top_rung
    if outcome.status in PASSED:
        return state.upper_broken is None or not run.top_rung < state.upper_broken <= ordered
    return outcome.rung <= max(ordered, SHALLOW)


def _seen_from(outcome: Outcome) -> int:
    """Return from how many places, up to two, the rung that decides was seen broken; else one."""
    if outcome.status is not Status.DOWN:
        return 1
    broken = [each for each in outcome.steps if each.rung == outcome.rung and each.status is Status.DOWN]
    return max(1, min(PLACES_THAT_COUNT, len({each.place for each in broken})))


def _climbed(state: LaneState, run: Run, outcome: Outcome, at: datetime) -> None:
    """Note what the climb tells whatever becomes of the state."""
    state.latency_ms, state.evidence_at = run.latency_ms, at
    state.stale_at = timetable.goes_stale(run.check_order, at)
    state.passed = state.passed | _passed(outcome, at)
    state.token_parameter = outcome.token_parameter or state.token_parameter
    if outcome.contract is not None:
        state.contract_at, state.contract_broken = at, outcome.contract is not Status.OK
    asked = {step.rung for step in outcome.steps if step.status is not Status.NOT_REACHED}
    if max(asked, default=0) <= SHALLOW:
        return
    if run.top_rung >= run.check_order.top_rung:
        state.upper_at = at
    if outcome.status is Status.DOWN:
        state.upper_broken = int(outcome.rung)
    elif outcome.status in PASSED and run.top_rung >= (state.upper_broken or 0):
        state.upper_broken = None


def spend(state: LaneState, tokens: int, at: datetime) -> None:
    """Charge tokens to the lane's UTC day."""
    day = at.astimezone(UTC).date()
    if state.tokens_day is None or state.tokens_day < day:
        state.tokens_day, state.tokens_spent = day, 0
    state.tokens_spent += tokens


def _count(letters: str, wanted: str) -> int:
    return sum(letter in wanted for letter in letters)


def _passed(outcome: Outcome, at: datetime) -> dict[str, str]:
    """Return the rungs this outcome passed: those below the last one reached, and that one if it held."""
    held = outcome.status in PASSED
    asked = {step.rung for step in outcome.steps if not _unasked(step)}
    passed = [rung for rung in asked if rung < outcome.rung or (held and rung == outcome.rung)]
    return {str(int(rung)): at.isoformat() for rung in passed}


def _unasked(step: Step) -> bool:
    """A rung that was not reached, or has nothing to ask for this lane, was not passed."""
    nothing_to_ask = step.status is Status.NOT_TESTABLE and step.reason is None
    return nothing_to_ask or step.status is Status.NOT_REACHED
