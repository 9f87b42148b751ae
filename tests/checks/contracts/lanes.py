"""A server that answers each question of a contract as told, and the climb that asks them."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from typing import Any

from checks import LaneKind, Outcome, Rung, Step, run
from tests.checks.local import MODEL, Behaviour, LocalServer, answering, completion

NOT_FOUND = answering(404, {"detail": "Not Found"})
PLAIN = answering(200, completion())


def question(request: bytes) -> str:
    """The name of the step that sent this request."""
    head, _, content = request.partition(b"\r\n\r\n")
    method, path = head.split(b" ")[:2]
    if method == b"GET" or path.endswith(b"/responses"):
        return path.rpartition(b"/")[2].decode()
    body = json.loads(content)
    if any(one["role"] == "tool" for one in body["messages"]):
        return "tool_result"
    asked = {"return_token_ids": "token_ids", "n": "samples", "logprobs": "logprobs", "stream": "stream"}
    named = [step for field, step in asked.items() if body.get(field)]
    if body.get("stream") is False:
        return "parameters" if "n" in body else "stream_false"
    for field, step in {
        "tool_choice": "forced_tool",
        "tools": "tools",
        "response_format": "json_schema",
    }.items():
        if field in body:
            return step
    if named:
        return "logprobs" if set(named) == {"token_ids", "logprobs"} else named[0]
    return "max_completion_tokens" if "max_completion_tokens" in body else "chat"


def telling(**answers: Behaviour) -> Behaviour:
    """Answer each question by its step's name; the rest with a plain completion, unknown pages with 404."""

    def behave(connection: socket.socket, request: bytes) -> None:
        rest = PLAIN if request.startswith(b"POST") else NOT_FOUND
        answers.get(question(request), rest)(connection, request)

    return behave


def call(arguments: object = '{"city": "Paris"}') -> dict[str, Any]:
    """A completion that calls the tool it was given."""
    function = {"name": "get_weather", "arguments": arguments}
    return said(None, "tool_calls", tool_calls=[{"id": "a", "type": "function", "function": function}])


def said(content: str | None, finish: str = "stop", **fields: Any) -> dict[str, Any]:
    """A completion of that text."""
    message = {"role": "assistant", "content": content, **fields}
    return completion(choices=[{"index": 0, "message": message, "finish_reason": finish}])


def chunk(delta: Mapping[str, object], finish: str | None = None, **fields: object) -> str:
    """One event of a stream."""
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return json.dumps({"object": "chat.completion.chunk", "choices": choices, **fields})


def events(*chunks: str, content_type: str = "text/event-stream") -> Behaviour:
    """A stream of these events."""
    return answering(200, "".join(f"data: {one}\n\n" for one in chunks), content_type)


STREAM = events(chunk({"content": "Hello"}), chunk({}, "stop"), "[DONE]")
TOOLS = answering(200, call())


def contract(server: LocalServer, lane: LaneKind, **changes: Any) -> Outcome:
    """Climb the channel rung of that lane with its contract."""
    known: dict[str, Any] = {"rungs": (Rung.CHANNEL,), "contract": True, "lane": lane, "deadline": 20.0}
    return run(server.spec(**{**known, **changes}))


def step(outcome: Outcome, name: str) -> Step:
    """The step of that name."""
    return next(one for one in outcome.steps if one.name == name)


def asked(server: LocalServer) -> list[str]:
    """The questions that arrived, by their steps' names, in order."""
    return [question(request) for request in server.seen]


__all__ = ["MODEL", "NOT_FOUND", "PLAIN", "STREAM", "TOOLS"]
