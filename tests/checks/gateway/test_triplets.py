"""What a trainer could use of a rollout's events."""

from __future__ import annotations

import pytest

from checks import Reason
from checks.probes.gateway.triplets import Event, judge_calls, judge_reward

WHOLE = {
    "prompt_token_ids": [1, 2],
    "response_token_ids": [3, 4],
    "response_log_probs": [-0.1, -0.2],
    "http_status": 200,
    "status": "ok",
}


def called(**changes: object) -> Event:
    return {"event_type": "model_request", "data": {**WHOLE, **changes}}


def rewarded(value: object) -> Event:
    return {"event_type": "reward", "data": {"value": value}}


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([called()], None),
        ([], Reason.TRIPLETS_MISSING),
        ([called(http_status=401, status="error")], Reason.TRIPLETS_MISSING),
        ([called(http_status=500, status="error"), called()], None),
        ([called(response_token_ids=[])], Reason.TOKEN_IDS_MISSING),
        ([called(prompt_token_ids=None)], Reason.TOKEN_IDS_MISSING),
        ([called(response_token_ids=["3", "4"])], Reason.TOKEN_IDS_MISSING),
        ([called(response_log_probs=None)], Reason.LOGPROBS_UNSUPPORTED),
        ([called(response_log_probs=[-0.1])], Reason.LOGPROBS_UNSUPPORTED),
        ([{"event_type": "model_request", "data": "nonsense"}], Reason.TRIPLETS_MISSING),
    ],
)
def test_training_calls_are_judged_by_the_trainers_rule(events: list[Event], reason: Reason | None) -> None:
    assert judge_calls(events, with_logprobs=True).reason is reason


def test_validation_asks_for_no_logprobs() -> None:
    assert judge_calls([called(response_log_probs=None)], with_logprobs=False).reason is None


@pytest.mark.parametrize("value", [None, "1.0", True, float("nan"), float("inf")])
def test_a_reward_that_is_no_finite_number_is_missing(value: object) -> None:
    assert judge_reward([rewarded(1.0), rewarded(value)]).reason is Reason.REWARD_MISSING


def test_the_last_reward_counts() -> None:
    assert judge_reward([rewarded(None), rewarded(0)]).reason is None
