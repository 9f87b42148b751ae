"""The agent lane's contract: tools, streams with an end, the fields its frameworks always send."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from checks import LaneKind, Outcome, Reason, Status
from tests.checks.conftest import Serve
from tests.checks.contracts.lanes import (
    NOT_FOUND,
    PLAIN,
    STREAM,
    TOOLS,
    asked,
    call,
    chunk,
    contract,
    events,
    said,
    step,
    telling,
)
from tests.checks.local import Behaviour, answering, completion, head

GOOD: dict[str, Behaviour] = {"tools": TOOLS, "stream": STREAM}


def agent(serve: Serve, changes: dict[str, Behaviour], **spec: Any) -> Outcome:
    return contract(serve(telling(**{**GOOD, **changes})), LaneKind.AGENT, **spec)


def refusal(text: str, param: str | None = None) -> Behaviour:
    error = {"message": text, "type": "BadRequestError", "param": param, "code": 400}
    return answering(400, {"error": error})


def test_a_lane_that_keeps_every_promise_is_green(serve: Serve) -> None:
    outcome = agent(serve, {})
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert [one.name for one in outcome.steps][:4] == ["chat", "tools", "tool_result", "stream"]
    assert all(one.tokens > 0 for one in outcome.steps if one.name not in ("responses", "template_kwargs"))


def test_a_small_window_is_asked_for_a_shorter_call(serve: Serve) -> None:
    too_many = refusal("max_tokens=1024 cannot be greater than max_model_len=512.", "max_tokens")

    def roomy(connection: socket.socket, request: bytes) -> None:
        (too_many if b'"max_tokens": 1024' in request else TOOLS)(connection, request)

    outcome = agent(serve, {"tools": roomy, "tool_result": roomy})
    assert (step(outcome, "tools").status, outcome.status) == (Status.OK, Status.OK)


def test_nothing_but_the_chat_is_asked_unless_the_contract_is(serve: Serve) -> None:
    server = serve(telling(**GOOD))
    assert contract(server, LaneKind.AGENT, contract=False).status is Status.OK
    assert asked(server) == ["chat"]


def test_a_chat_that_fails_leaves_the_contract_unasked(serve: Serve) -> None:
    server = serve(answering(401, {"error": "Unauthorized"}))
    outcome = contract(server, LaneKind.AGENT)
    assert outcome.status is Status.DOWN
    assert "tools" not in [one.name for one in outcome.steps]


def test_the_tool_is_offered_and_not_forced(serve: Serve) -> None:
    server = serve(telling(**GOOD))
    contract(server, LaneKind.AGENT)
    body = json.loads(server.seen[1].partition(b"\r\n\r\n")[2])
    assert body["tools"][0]["function"]["name"] == "get_weather"
    assert "tool_choice" not in body


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            answering(200, said('<tool_call>\n{"name": "get_weather"}\n</tool_call>')),
            Reason.TOOL_CALLS_UNPARSED,
        ),
        (
            answering(200, said(None, function_call={"name": "get_weather", "arguments": "{}"})),
            Reason.TOOL_CALLS_UNPARSED,
        ),
        (answering(200, call('{"city": "Par')), Reason.TOOL_ARGS_INVALID_JSON),
        (answering(200, call('{"city": "Paris"}{"city": "Paris"}')), Reason.TOOL_ARGS_INVALID_JSON),
        (answering(200, call("")), Reason.TOOL_ARGS_INVALID_JSON),
        (answering(200, call({"city": "Paris"})), Reason.TOOL_ARGS_INVALID_JSON),
        (answering(200, call("[" * 100_000)), Reason.TOOL_ARGS_INVALID_JSON),
        (
            refusal('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
            Reason.TOOL_PARSER_NOT_ENABLED,
        ),
        (refusal("tiny-chat does not support tools"), Reason.TOOLS_UNSUPPORTED_BY_MODEL),
    ],
)
def test_a_tool_call_that_no_client_can_read_breaks_the_lane(
    serve: Serve, answer: Behaviour, reason: Reason
) -> None:
    outcome = agent(serve, {"tools": answer})
    assert (outcome.status, outcome.reason) == (Status.DOWN, reason)
    assert step(outcome, "tools").evidence is not None
    assert step(outcome, "stream").status is Status.NOT_REACHED


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (said("It is dry."), Reason.TOOL_NOT_CALLED),
        (said("", "length", reasoning_content="Let me see. "), Reason.CONTENT_EMPTY_REASONING),
        (said("", "content_filter"), Reason.CONTENT_FILTERED),
    ],
)
def test_a_model_that_did_not_call_is_degraded_and_the_asking_goes_on(
    serve: Serve, answer: dict[str, Any], reason: Reason
) -> None:
    outcome = agent(serve, {"tools": answering(200, answer)})
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, reason)
    assert step(outcome, "tools").evidence is not None
    assert step(outcome, "stream").status is Status.OK


def test_a_history_with_a_call_and_its_result_must_be_taken(serve: Serve) -> None:
    refused = refusal("The `reasoning_content` in the thinking mode must be passed back to the API.")
    outcome = agent(serve, {"tool_result": refused})
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.REASONING_CONTENT_REQUIRED)


FILTER = '{"id": "", "choices": [], "prompt_filter_results": []}'
USAGE = '{"choices": [], "usage": {"total_tokens": 77}}'


@pytest.mark.parametrize(
    "chunks",
    [
        (chunk({"content": "Hello"}), chunk({}, "stop"), "[DONE]"),
        (FILTER, chunk({"content": "Hello"}), chunk({}, "stop"), USAGE, "[DONE]"),
        (chunk({"content": None, "reasoning_content": "Hm"}), chunk({}, "length"), "[DONE]"),
    ],
)
def test_a_stream_with_a_proper_end_passes(serve: Serve, chunks: tuple[str, ...]) -> None:
    outcome = agent(serve, {"stream": events(*chunks)})
    assert (outcome.status, step(outcome, "stream").status) == (Status.OK, Status.OK)


def test_a_stream_is_charged_by_its_usage_or_else_like_the_chat(serve: Serve) -> None:
    counted = events(chunk({"content": "Hello"}), chunk({}, "stop"), USAGE, "[DONE]")
    assert step(agent(serve, {"stream": counted}), "stream").tokens == 77
    assert step(agent(serve, {}), "stream").tokens == 12


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (events(chunk({"content": "Hel"})), Status.DOWN, Reason.STREAM_TRUNCATED),
        (events(chunk({"content": "Hello"}), "[DONE]"), Status.DEGRADED, Reason.STREAM_TRUNCATED),
        (events(chunk({"content": "Hi"}), chunk({}, "stop")), Status.DEGRADED, Reason.STREAM_TRUNCATED),
        (PLAIN, Status.DOWN, Reason.STREAM_FRAMING_MISMATCH),
        (
            events(chunk({"content": "Hi"}), chunk({}, "stop"), "[DONE]", content_type="text/plain"),
            Status.DEGRADED,
            Reason.STREAM_FRAMING_MISMATCH,
        ),
        (events('{"choices": [{"delta"', "[DONE]"), Status.DOWN, Reason.STREAM_FRAMING_MISMATCH),
        (events(FILTER, "[DONE]"), Status.DOWN, Reason.CHOICES_EMPTY_CHUNK),
        (answering(200, "", "text/event-stream"), Status.DOWN, Reason.NON_JSON_BODY),
        (events('{"error": {"message": "boom", "code": 500}}'), Status.DOWN, None),
        (refusal("streaming is not available"), Status.DOWN, None),
    ],
)
def test_a_stream_without_a_proper_end_or_form_is_named(
    serve: Serve, answer: Behaviour, status: Status, reason: Reason | None
) -> None:
    outcome = agent(serve, {"stream": answer})
    assert outcome.status is status
    assert outcome.reason in ((reason,) if reason else tuple(Reason))


def test_a_stream_that_breaks_off_is_truncated(serve: Serve) -> None:
    def cut(connection: socket.socket, request: bytes) -> None:
        connection.sendall(head(200, None, "text/event-stream", transfer_encoding="chunked"))
        part = f"data: {chunk({'content': 'Hel'})}\n\n".encode()
        connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")

    outcome = agent(serve, {"stream": cut})
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.STREAM_TRUNCATED)


def test_a_stream_for_stream_false_is_misframed(serve: Serve) -> None:
    outcome = agent(serve, {"stream_false": STREAM})
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.STREAM_FRAMING_MISMATCH)
    assert step(outcome, "stream").status is Status.OK


@pytest.mark.parametrize("text", ["Extra inputs are not permitted: max_completion_tokens", "odd request"])
def test_a_refused_new_name_of_the_length_is_degraded_and_names_who_sends_it(serve: Serve, text: str) -> None:
    outcome = agent(serve, {"max_completion_tokens": refusal(text)})
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.MAX_TOKENS_PARAM_UNSUPPORTED)
    assert "langchain-openai" in step(outcome, "max_completion_tokens").say["clients"]


def test_a_new_name_that_the_chat_used_is_not_asked_again(serve: Serve) -> None:
    server = serve(telling(**GOOD))
    outcome = contract(server, LaneKind.AGENT, token_parameter="max_completion_tokens")
    assert step(outcome, "max_completion_tokens").say == {"told_by": "chat"}
    assert outcome.status is Status.OK


@pytest.mark.parametrize(
    ("answer", "supported"),
    [
        (answering(200, {"object": "response", "output": []}), "yes"),
        (NOT_FOUND, "no"),
        (answering(200, "<!doctype html><html></html>", "text/html"), "no"),
        (answering(200, {"error": "Unexpected endpoint or method."}), "no"),
        (answering(500, "oops", "text/plain"), "unknown"),
        (lambda connection, request: None, "unknown"),
    ],
)
def test_the_responses_route_is_said_and_breaks_nothing(
    serve: Serve, answer: Behaviour, supported: str
) -> None:
    outcome = agent(serve, {"responses": answer})
    assert outcome.status is Status.OK
    assert step(outcome, "responses").say["supported"] == supported
    assert "openai-agents" in step(outcome, "responses").say["clients"]


def test_what_frameworks_add_is_said_and_breaks_nothing(serve: Serve) -> None:
    refused = refusal("Thinking mode does not support this tool_choice")
    outcome = agent(serve, {"forced_tool": refused})
    assert outcome.status is Status.OK
    assert step(outcome, "forced_tool").say["refused"] == "tool_choice_unsupported"
    assert step(outcome, "json_schema").say["accepted"] == "yes"


def test_a_limited_pace_degrades_the_lane_and_ends_the_asking(serve: Serve) -> None:
    limited = answering(429, {"error": {"message": "Rate limit", "code": "rate_limit_exceeded"}})
    outcome = agent(serve, {"tools": limited})
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.RATE_LIMITED)
    assert step(outcome, "tool_result").status is Status.NOT_REACHED


def test_the_latency_of_a_lane_is_that_of_its_chat(serve: Serve) -> None:
    outcome = agent(serve, {}, latency_limit_ms=0)
    assert (outcome.status, outcome.reason) == (Status.DEGRADED, Reason.LATENCY_OVER_LIMIT)
    assert step(outcome, "chat").reason is Reason.LATENCY_OVER_LIMIT
    assert step(outcome, "tools").status is Status.OK


def test_a_question_that_hangs_is_a_fault_of_the_endpoint_within_the_deadline(serve: Serve) -> None:
    def silent(connection: socket.socket, request: bytes) -> None:
        time.sleep(4)

    begun = time.monotonic()
    outcome = agent(serve, {"tools": silent}, deadline=2.5)
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.REQUEST_TIMEOUT)
    assert time.monotonic() - begun < 3.5


def test_a_question_that_had_less_than_a_fair_time_is_not_testable(serve: Serve) -> None:
    def silent(connection: socket.socket, request: bytes) -> None:
        time.sleep(2)

    outcome = agent(serve, {"tools": silent}, deadline=1.2)
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.DEADLINE_SPENT)


def test_no_step_of_a_contract_shows_the_key(serve: Serve) -> None:
    echo = answering(400, {"error": {"message": "not for sk-canary-0123456789abcdef"}})
    for name in ("tools", "stream", "stream_false", "max_completion_tokens", "responses", "forced_tool"):
        assert "0123456789abcdef" not in repr(agent(serve, {name: echo}))


def test_a_completion_with_an_error_beside_it_keeps_no_promise(serve: Serve) -> None:
    beside = answering(200, completion(error={"message": "upstream failed", "code": 502}))
    assert agent(serve, {"stream_false": beside}).status is Status.DOWN
