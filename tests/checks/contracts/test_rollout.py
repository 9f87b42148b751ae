"""The rollout lane's contract: an answer of 200 that cannot be trained on is never green."""

from __future__ import annotations

from typing import Any

import pytest

from checks import LaneKind, Outcome, Reason, Status
from tests.checks.conftest import Serve
from tests.checks.contracts.lanes import PLAIN, asked, contract, step, telling
from tests.checks.local import MODEL, Behaviour, answering, completion

WHOLE = {"prompt": list(range(9)), "sampled": [5, 6, 7], "logprob": [-0.5, -0.1, -2.0]}


def sampled(**changes: Any) -> Behaviour:
    """An answer as vLLM gives it to `return_token_ids` and `logprobs`, with changes."""
    given = {**WHOLE, **changes}
    message = {"role": "assistant", "content": "Hello"}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "token_ids": given["sampled"]}
    if given["logprob"] is not None:
        choice["logprobs"] = {"content": [{"token": "a", "logprob": one} for one in given["logprob"]]}
    return answering(200, completion(choices=[choice], prompt_token_ids=given["prompt"]))


def twice() -> Behaviour:
    choice = {"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
    return answering(200, completion(choices=[choice, choice]))


def rollout(serve: Serve, changes: dict[str, Behaviour], **spec: Any) -> Outcome:
    good = {"token_ids": sampled(), "logprobs": sampled(), "samples": twice()}
    return contract(serve(telling(**{**good, **changes})), LaneKind.ROLLOUT, **spec)


def test_a_lane_with_ids_logprobs_and_samples_is_green(serve: Serve) -> None:
    outcome = rollout(serve, {})
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert step(outcome, "token_ids").say["shape"] == "vllm"


@pytest.mark.parametrize(
    ("answer", "shape"),
    [
        (PLAIN, "none"),
        (sampled(sampled=[]), "none"),
        (sampled(prompt=None), "none"),
        (sampled(sampled=[5, "6", 7]), "not_integers"),
        (sampled(sampled=[5, True, 7]), "not_integers"),
        (sampled(prompt=[0.5] * 9), "not_integers"),
        (sampled(sampled=[5, 6]), "count"),
        (sampled(prompt=[1]), "count"),
    ],
)
def test_an_answer_without_whole_ids_is_down(serve: Serve, answer: Behaviour, shape: str) -> None:
    outcome = rollout(serve, {"token_ids": answer})
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.TOKEN_IDS_MISSING)
    assert step(outcome, "token_ids").say["shape"] == shape
    assert step(outcome, "logprobs").status is Status.NOT_REACHED


def test_ids_in_the_form_of_sglang_are_told_apart(serve: Serve) -> None:
    message = {"role": "assistant", "content": "Hello"}
    choice = {"message": message, "prompt_token_ids": [1] * 9, "response_token_ids": [5, 6, 7]}
    outcome = rollout(serve, {"token_ids": answering(200, completion(choices=[choice]))})
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.TOKEN_IDS_MISSING)
    assert step(outcome, "token_ids").say["shape"] == "sglang"


def test_ids_that_nobody_billed_are_taken_as_they_are(serve: Serve) -> None:
    choice = {"message": {"role": "assistant", "content": "Hello"}, "token_ids": [5]}
    uncounted = answering(200, completion(choices=[choice], prompt_token_ids=[1], usage=None))
    assert rollout(serve, {"token_ids": uncounted}).status is Status.OK


def test_a_refusal_of_token_ids_says_that_they_are_missing(serve: Serve) -> None:
    text = "[{'type': 'extra_forbidden', 'loc': ('body', 'return_token_ids'), 'msg': 'Extra inputs'}]"
    outcome = rollout(serve, {"token_ids": answering(400, {"object": "error", "message": text})})
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.TOKEN_IDS_MISSING)


@pytest.mark.parametrize(
    ("answer", "flaw"),
    [
        (sampled(logprob=None), "none"),
        (sampled(logprob=[]), "none"),
        (sampled(logprob=[-0.5, float("nan"), -2.0]), "not_finite"),
        (sampled(logprob=[-0.5, float("-inf"), -2.0]), "not_finite"),
        (sampled(logprob=[-0.5, None, -2.0]), "not_finite"),
        (sampled(logprob=[-0.5, -0.1]), "count"),
    ],
)
def test_logprobs_that_no_trainer_can_use_are_down(serve: Serve, answer: Behaviour, flaw: str) -> None:
    outcome = rollout(serve, {"logprobs": answer})
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.LOGPROBS_UNSUPPORTED)
    assert step(outcome, "logprobs").say["flaw"] == flaw


def test_fewer_samples_than_asked_for_are_degraded(serve: Serve) -> None:
    outcome = rollout(serve, {"samples": PLAIN})
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.PARAM_VALUE_UNSUPPORTED)
    assert step(outcome, "samples").say["samples"] == "1"


def version(text: object) -> Behaviour:
    return answering(200, {"version": text})


@pytest.mark.parametrize("text", ["0.10.1.1", "0.8.5.post1", "0.9.2+cu128"])
def test_an_old_version_explains_the_missing_ids(serve: Serve, text: str) -> None:
    outcome = rollout(serve, {"token_ids": PLAIN, "version": version(text)})
    assert step(outcome, "engine").say == {"version": text, "token_ids_since": "0.10.2"}
    assert step(outcome, "token_ids").say["token_ids_since"] == "0.10.2"


@pytest.mark.parametrize("text", ["0.10.2", "0.32.0", "1.0.0", "dev", "", 7, None])
def test_a_newer_or_unreadable_version_explains_nothing(serve: Serve, text: object) -> None:
    outcome = rollout(serve, {"token_ids": PLAIN, "version": version(text)})
    assert "token_ids_since" not in step(outcome, "token_ids").say


@pytest.mark.parametrize("page", ["is_sleeping", "is_paused"])
def test_an_engine_that_went_to_sleep_is_asked_no_more(serve: Serve, page: str) -> None:
    server = serve(telling(**{page: answering(200, {page: True})}))
    outcome = contract(server, LaneKind.ROLLOUT)
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.ENGINE_ASLEEP)
    assert "token_ids" not in asked(server)


def models(**fields: object) -> Behaviour:
    return answering(200, {"object": "list", "data": [{"id": "other"}, {"id": MODEL, **fields}]})


def test_lengths_that_do_not_fit_the_window_are_down_before_launch(serve: Serve) -> None:
    outcome = rollout(serve, {"models": models(max_model_len=512)}, prompt_length=400, response_length=200)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.CONTEXT_LENGTH_EXCEEDED)
    assert step(outcome, "window").say == {"listed": "yes", "max_model_len": "512", "needed": "600"}


@pytest.mark.parametrize(
    ("fields", "lengths"),
    [
        ({"max_model_len": 600}, (400, 200)),
        ({"max_model_len": 512}, (None, None)),
        ({"max_model_len": None}, (400, 200)),
        ({"max_model_len": "512"}, (400, 200)),
        ({}, (400, 200)),
    ],
)
def test_a_window_that_fits_or_is_unknown_passes(
    serve: Serve, fields: dict[str, object], lengths: tuple[int | None, int | None]
) -> None:
    prompt, response = lengths
    outcome = rollout(serve, {"models": models(**fields)}, prompt_length=prompt, response_length=response)
    assert outcome.status is Status.OK


def test_no_route_that_changes_anything_is_ever_called(serve: Serve) -> None:
    listed = {"paths": {"/sleep": {}, "/update_weights": {}, "/v1/chat/completions": {}}}
    good = {"token_ids": sampled(), "logprobs": sampled(), "samples": twice()}
    server = serve(telling(**good, **{"openapi.json": answering(200, listed)}))
    contract(server, LaneKind.ROLLOUT)
    posted = {request.split(b" ")[1] for request in server.seen if not request.startswith(b"GET ")}
    read = {request.split(b" ")[1] for request in server.seen if request.startswith(b"GET ")}
    assert posted == {b"/v1/chat/completions"}
    assert read == {b"/version", b"/is_sleeping", b"/is_paused", b"/openapi.json", b"/v1/models"}


def test_pages_outside_the_version_segment_are_asked_for_without_the_key(serve: Serve) -> None:
    server = serve(telling())
    contract(server, LaneKind.ROLLOUT)
    pages = [request for request in server.seen if request.startswith((b"GET /version", b"GET /open"))]
    assert len(pages) >= 2
    assert not any(b"authorization" in request.lower() for request in pages)


def test_development_routes_on_loopback_are_said_and_no_finding(serve: Serve) -> None:
    listed = {"paths": {"/sleep": {}, "/update_weights": {}}}
    outcome = rollout(serve, {"openapi.json": answering(200, listed)})
    assert outcome.status is Status.OK
    assert step(outcome, "routes").say["routes"] == "/sleep, /update_weights"
