"""The replay lane's contract: the id that litellm sends on, and the parameters it sends with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from checks import LaneKind, Outcome, Reason, Status
from tests.checks.conftest import Serve
from tests.checks.contracts.lanes import PLAIN, contract, step, telling
from tests.checks.local import Behaviour, answering, completion


def replay(serve: Serve, changes: dict[str, Behaviour], **spec: Any) -> Outcome:
    return contract(serve(telling(**changes)), LaneKind.REPLAY, **spec)


def refusal(text: str) -> Behaviour:
    return answering(400, {"error": {"message": text, "type": "invalid_request_error"}})


@pytest.mark.parametrize(
    ("model", "bare"),
    [
        ("gpt-4o-mini", "if_known"),
        ("Qwen/Qwen2.5-7B-Instruct", "refused"),
        ("deepseek/x", "altered"),
        ("openai/gpt-4o-mini", "altered"),
    ],
)
def test_the_id_to_write_keeps_the_whole_id_behind_one_prefix(serve: Serve, model: str, bare: str) -> None:
    outcome = replay(serve, {}, model=model)
    said = step(outcome, "litellm_id").say
    assert said == {"write": f"openai/{model}", "sends": model, "without_prefix": bare}
    assert outcome.status is Status.OK


def test_an_id_that_litellm_would_alter_all_the_same_is_degraded(serve: Serve) -> None:
    outcome = replay(serve, {}, model="responses/tiny")
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.MODEL_PROVIDER_PREFIX)
    assert step(outcome, "litellm_id").say["sends"] == "tiny"


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("tiny-chat", {"max_tokens": 256, "temperature": 0.7}),
        ("gpt-5-mini", {"max_completion_tokens": 256, "temperature": 1}),
    ],
)
def test_the_parameters_are_those_that_litellm_sends(serve: Serve, model: str, sent: dict[str, Any]) -> None:
    server = serve(telling())
    contract(server, LaneKind.REPLAY, model=model)
    body = json.loads(server.seen[1].partition(b"\r\n\r\n")[2])
    assert {**sent, "n": 1, "stream": False}.items() <= body.items()
    assert len({"max_tokens", "max_completion_tokens"} & set(body)) == 1


def test_a_refused_parameter_breaks_the_lane(serve: Serve) -> None:
    refused = refusal("Unsupported value: 'temperature' takes only its default (1) with this model.")
    outcome = replay(serve, {"parameters": refused})
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.PARAM_VALUE_UNSUPPORTED)


def test_a_refused_length_degrades_and_names_litellm(serve: Serve) -> None:
    refused = refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    outcome = replay(serve, {"parameters": refused}, token_parameter="max_completion_tokens")
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.MAX_TOKENS_PARAM_UNSUPPORTED)
    assert step(outcome, "parameters").say["clients"] == "litellm"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (PLAIN, {"samples": "1", "logprobs": "no"}),
        (
            answering(
                200,
                completion(
                    choices=[{"message": {"content": "a"}, "logprobs": {"content": [{"logprob": -1.0}]}}] * 2
                ),
            ),
            {"samples": "2", "logprobs": "yes"},
        ),
        (refusal("logprobs are not supported"), {"refused": "logprobs_unsupported"}),
    ],
)
def test_samples_and_logprobs_are_said_and_break_nothing(
    serve: Serve, answer: Behaviour, said: dict[str, str]
) -> None:
    outcome = replay(serve, {"samples": answer})
    assert outcome.status is Status.OK
    assert said.items() <= step(outcome, "sampling").say.items()
