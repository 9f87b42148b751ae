"""Rung 2: the model list supports, the chat completion decides."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from checks import Outcome, Reason, Rung, Status, Step, run
from tests.checks.conftest import Serve
from tests.checks.local import (
    HEALTHY,
    KEY,
    MODEL,
    Behaviour,
    LocalServer,
    answering,
    by_path,
    completion,
    head,
    model_list,
)

REFUSED_KEY = {
    "error": {"message": "Incorrect API key", "type": "invalid_request_error", "code": "invalid_api_key"}
}
NO_LIST = answering(404, {"detail": "Not Found"})


def channel(server: LocalServer, **changes: Any) -> Outcome:
    return run(server.spec(rungs=(Rung.CHANNEL,), **changes))


def chatting(behaviour: Behaviour, models: Behaviour = NO_LIST) -> Behaviour:
    return by_path(models=models, completions=behaviour)


def chat_step(outcome: Outcome) -> Step:
    return next(step for step in outcome.steps if step.name == "chat")


def asked(server: LocalServer) -> list[dict[str, Any]]:
    """The bodies of the chat requests that arrived."""
    return [json.loads(sent.partition(b"\r\n\r\n")[2]) for sent in server.seen if sent.startswith(b"POST")]


def test_a_healthy_server_passes_with_latency_and_tokens(serve: Serve) -> None:
    outcome = channel(serve(HEALTHY))
    assert (outcome.status, outcome.rung, outcome.reason) == (Status.OK, Rung.CHANNEL, None)
    assert [(step.name, step.status) for step in outcome.steps] == [("chat", Status.OK)]
    assert outcome.tokens == 12
    assert outcome.latency_ms is not None
    assert outcome.latency_ms > 0


def test_the_chat_is_small_unstreamed_and_leaves_room_to_reason(serve: Serve) -> None:
    server = serve(HEALTHY)
    channel(server)
    [body] = asked(server)
    assert body["model"] == MODEL
    assert body["max_tokens"] >= 256
    assert not {"stream", "temperature", "max_completion_tokens"} & set(body)


def test_the_key_is_sent_as_a_bearer_token(serve: Serve) -> None:
    server = serve(HEALTHY)
    channel(server)
    assert all(f"authorization: bearer {KEY}".encode() in sent.lower() for sent in server.seen)


def test_without_a_key_no_authorization_header_is_sent(serve: Serve) -> None:
    server = serve(HEALTHY)
    assert channel(server, key=None).status is Status.OK
    assert not any(b"authorization" in sent.lower() for sent in server.seen)


def test_a_completion_needs_no_model_list(serve: Serve) -> None:
    server = serve(HEALTHY)
    channel(server)
    assert [sent.split(b" ")[0] for sent in server.seen] == [b"POST"]


@pytest.mark.parametrize(
    "models",
    [
        NO_LIST,
        answering(401, {"error": "no"}),
        answering(200, "<html></html>", "text/html"),
        answering(200, []),
        answering(200, {"data": [1, {"id": 2}]}),
        lambda connection, request: None,
    ],
)
def test_a_model_list_that_is_absent_or_odd_does_not_change_the_verdict(
    serve: Serve, models: Behaviour
) -> None:
    outcome = channel(serve(chatting(answering(401, REFUSED_KEY), models)))
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.AUTH_INVALID_KEY)
    assert [step.name for step in outcome.steps] == ["models", "chat"]


def test_a_silent_chat_leaves_the_model_list_its_turn(serve: Serve) -> None:
    def silent(connection: socket.socket, request: bytes) -> None:
        time.sleep(2)

    begun = time.monotonic()
    outcome = channel(serve(chatting(silent, answering(200, model_list(MODEL)))), deadline=1.0)
    assert [step.status for step in outcome.steps] == [Status.OK, Status.DOWN]
    assert outcome.reason is Reason.REQUEST_TIMEOUT
    assert time.monotonic() - begun < 1.9


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"role": "assistant", "content": ""}, "finish_reason": "length"},
        {
            "message": {"role": "assistant", "content": None, "reasoning_content": "Hm"},
            "finish_reason": "length",
        },
        {"message": {"content": "NOT OK"}},
    ],
)
def test_a_message_without_the_expected_text_is_alive(serve: Serve, choice: dict[str, Any]) -> None:
    outcome = channel(serve(chatting(answering(200, completion(choices=[choice])))))
    assert (outcome.status, outcome.reason) == (Status.OK, None)


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_the_other_name_of_the_length_field_is_learned(serve: Serve, name: str) -> None:
    other = "max_completion_tokens" if name == "max_tokens" else "max_tokens"
    refusal = {
        "error": {
            "message": f"Unsupported parameter: '{name}' is not supported here. Use '{other}' instead.",
            "type": "invalid_request_error",
            "param": name,
            "code": "unsupported_parameter",
        }
    }

    def choosy(connection: socket.socket, request: bytes) -> None:
        refused = f'"{name}"'.encode() in request
        (answering(400, refusal) if refused else answering(200, completion()))(connection, request)

    server = serve(chatting(choosy))
    outcome = channel(server, token_parameter=name)
    assert (outcome.status, outcome.token_parameter) == (Status.OK, other)
    assert [other in body for body in asked(server)] == [False, True]


def test_a_known_length_field_is_asked_for_at_once(serve: Serve) -> None:
    server = serve(HEALTHY)
    outcome = channel(server, token_parameter="max_completion_tokens")
    assert ["max_completion_tokens" in body for body in asked(server)] == [True]
    assert outcome.token_parameter == "max_completion_tokens"


def test_other_refusals_are_not_asked_again(serve: Serve) -> None:
    server = serve(chatting(answering(400, {"error": {"message": "temperature is not supported"}})))
    assert channel(server).status is Status.DOWN
    assert len(asked(server)) == 1


NO_SUCH_MODEL = {
    "object": "error",
    "message": f"The model `{MODEL}` does not exist.",
    "type": "NotFoundError",
    "param": "model",
    "code": 404,
}


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (answering(401, REFUSED_KEY), Reason.AUTH_INVALID_KEY),
        (answering(404, NO_SUCH_MODEL), Reason.MODEL_NOT_FOUND),
        (
            answering(200, "<!doctype html><html><title>Sign in</title></html>", "text/html"),
            Reason.BASE_URL_HTML_PAGE,
        ),
        (answering(200, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}), None),
        (answering(200, {"choices": []}), Reason.CHOICES_MISSING_ERROR_BODY),
        (answering(200, "hello there", "text/plain"), Reason.NON_JSON_BODY),
        (answering(307, "", location="http://169.254.169.254/latest"), Reason.REDIRECT_BROKEN),
    ],
)
def test_an_answer_that_is_no_completion_is_down_and_named(
    serve: Serve, behaviour: Behaviour, reason: Reason | None
) -> None:
    outcome = channel(serve(chatting(behaviour)))
    assert (outcome.status, outcome.rung) == (Status.DOWN, Rung.CHANNEL)
    assert outcome.reason in ((reason,) if reason else tuple(Reason))
    assert outcome.latency_ms is None


def test_a_body_of_fifty_megabytes_is_too_large(serve: Serve) -> None:
    def flood(connection: socket.socket, request: bytes) -> None:
        connection.sendall(head(200, 50 * 1024 * 1024))
        for _ in range(50):
            connection.sendall(b" " * 1024 * 1024)

    begun = time.monotonic()
    outcome = channel(serve(chatting(flood)))
    assert outcome.reason is Reason.ANSWER_TOO_LARGE
    assert time.monotonic() - begun < 3


def test_a_server_that_drips_meets_the_deadline(serve: Serve) -> None:
    def drip(connection: socket.socket, request: bytes) -> None:
        connection.sendall(head(200, 100))
        for _ in range(5):
            connection.sendall(b" ")
            time.sleep(1)

    begun = time.monotonic()
    outcome = channel(serve(chatting(drip)), deadline=1.2)
    assert (outcome.status, outcome.rung) == (Status.DOWN, Rung.CHANNEL)
    assert time.monotonic() - begun < 2


def test_a_completion_that_does_not_call_itself_json_is_degraded(serve: Serve) -> None:
    outcome = channel(serve(chatting(answering(200, completion(), "text/plain"))))
    assert outcome.status is Status.DEGRADED
    assert outcome.reason is not None
    assert chat_step(outcome).say["content_type"] == "text/plain"


def test_the_verdict_sees_models_and_the_shape_of_the_key(serve: Serve) -> None:
    models = answering(200, model_list("a", "b"))
    evidence = chat_step(channel(serve(chatting(answering(404, NO_SUCH_MODEL), models)))).evidence
    assert evidence is not None
    assert evidence.context["models"] == ("a", "b")
    assert evidence.context["key"] == {"length": len(KEY), "prefix": "sk-", "last_four": KEY[-4:]}


def test_a_model_list_without_end_is_capped(serve: Serve) -> None:
    models = answering(200, model_list(*(f"m{number}" for number in range(5000))))
    evidence = chat_step(channel(serve(chatting(answering(401, REFUSED_KEY), models)))).evidence
    assert evidence is not None
    assert evidence.context["models"] == tuple(f"m{number}" for number in range(200))


@pytest.mark.parametrize(
    "usage", [None, {}, [], {"total_tokens": "12"}, {"total_tokens": -5}, {"total_tokens": 10**30}]
)
def test_absurd_usage_counts_as_nothing(serve: Serve, usage: object) -> None:
    outcome = channel(serve(chatting(answering(200, completion(usage=usage)))))
    assert (outcome.status, outcome.tokens) == (Status.OK, 0)


def test_a_missing_model_is_said_and_nothing_is_asked(serve: Serve) -> None:
    server = serve(HEALTHY)
    outcome = channel(server, model="")
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.MODEL_MISSING)
    assert server.seen == []


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"choices":[{"message":{}}' + b" " * 100, b"\xff\xfe", b"null", b"1e999"]
)
def test_odd_json_is_down_and_never_an_error_of_ours(serve: Serve, body: bytes) -> None:
    outcome = channel(serve(chatting(answering(200, body))))
    assert outcome.status is Status.DOWN
    assert outcome.reason is not Reason.ENGINE_FAULT
