"""What a trainer would make of a rollout's events (the pass rule of Agent-Lightning 1.0.2's trainer).

It drops each call that failed or has no ids of the response, and a rollout without a number as reward.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from checks.outcome import Rung, Status, Step
from checks.reason import Reason

FIRST_ERROR: Final = 400
MAX_ERROR_TEXT: Final = 4_096

Event = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Judged:
    """`reason` is why the trainer could not use the rollout, None where it could; `say` holds counts."""

    reason: Reason | None
    say: Mapping[str, str] = field(default_factory=dict)


def judge_calls(events: Sequence[Event], *, with_logprobs: bool) -> Judged:
    """Judge the recorded calls of one rollout: one that can be trained on is enough.

    `with_logprobs` asks for one log-probability for each id of the response, as in training.
    """
    calls = _data_of(events, "model_request")
    passed = [call for call in calls if not is_error(call)]
    whole = [call for call in passed if _ids(call, "prompt_token_ids") and _ids(call, "response_token_ids")]
    usable = [call for call in whole if not with_logprobs or _has_logprobs(call)]
    best = next(iter(usable or whole or passed), {})
    say = {
        "calls": str(len(calls)),
        "passed": str(len(passed)),
        "usable": str(len(usable)),
        "prompt_ids": str(_ids(best, "prompt_token_ids")),
        "response_ids": str(_ids(best, "response_token_ids")),
    }
    if with_logprobs:
        say["logprobs"] = str(_ids(best, "response_log_probs"))
    return Judged(_reason(len(passed), len(whole), len(usable)), say)


def _reason(passed: int, whole: int, usable: int) -> Reason | None:
    if usable:
        return None
    if whole:
        return Reason.LOGPROBS_UNSUPPORTED
    return Reason.TOKEN_IDS_MISSING if passed else Reason.TRIPLETS_MISSING


def judge_reward(events: Sequence[Event]) -> Judged:
    """Judge the rewards of one rollout: the last one counts, and must be a finite number."""
    rewards = [reward.get("value") for reward in _data_of(events, "reward")]
    if not rewards:
        return Judged(Reason.REWARD_MISSING, {"rewards": "0"})
    last = rewards[-1]
    say = {"rewards": str(len(rewards)), "reward": str(last)[:40]}
    usable = isinstance(last, (int, float)) and not isinstance(last, bool) and math.isfinite(last)
    return Judged(None if usable else Reason.REWARD_MISSING, say)


def triplets_step(name: str, judged: list[Judged]) -> Step:
    """Return the step of these judgements: the first reason found, and the counts of the first call that
    shows it."""
    worst = next((one for one in judged if one.reason is not None), None)
    say = {key: text for one in reversed(judged) for key, text in one.say.items()}
    say |= worst.say if worst else {}
    return Step(
        Rung.ROLLOUT,
        name,
        Status.DOWN if worst else Status.OK,
        worst.reason if worst else None,
        candidates=(worst.reason,) if worst and worst.reason else (),
        say=say,
    )


def failed_call(events: Sequence[Event]) -> Event | None:
    """The last recorded call that the model server refused; None where it refused none."""
    refused = [call for call in _data_of(events, "model_request") if is_error(call)]
    return refused[-1] if refused else None


def is_error(call: Event) -> bool:
    """Tell whether a recorded call failed, as the trainer sees it."""
    status = call.get("http_status")
    return call.get("status") == "error" or (isinstance(status, int) and status >= FIRST_ERROR)


def _data_of(events: Sequence[Event], kind: str) -> list[Event]:
    found = (event.get("data") for event in events if event.get("event_type") == kind)
    return [data for data in found if isinstance(data, Mapping)]


def _ids(call: Event, name: str) -> int:
    """How many there are; 0 for what is no list of numbers."""
    ids = call.get(name)
    whole = isinstance(ids, list) and all(
        isinstance(one, (int, float)) and not isinstance(one, bool) for one in ids
    )
    return len(ids) if whole and isinstance(ids, list) else 0


def _has_logprobs(call: Event) -> bool:
    return _ids(call, "response_log_probs") == _ids(call, "response_token_ids")
