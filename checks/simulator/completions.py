"""Healthy OpenAI-shaped answers: model lists, chat completions with tools, log-probs and ids, streams."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from checks.simulator.call import Call
from checks.simulator.http import Answer, Reply, as_json

ANSWER = "All of it works."
MOST_SAMPLES = 16
ARGUMENTS: Mapping[str, object] = {
    "string": "SELECT 1",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}
"""What a tool call passes for a parameter of each JSON schema type."""
SCRIPTS: Mapping[str, tuple[dict[str, object], ...]] = {
    "run_sql": (
        {"query": "SELECT name, sql FROM sqlite_master"},
        {"query": "SELECT customer, SUM(amount) AS paid FROM orders GROUP BY customer ORDER BY paid DESC"},
    )
}
"""Tools that are called several times, with what is passed each time; what they gave is then repeated."""


def model_list(call: Call, **extra: object) -> Reply:
    """`GET /models`: one entry a served model, with `extra` in each."""
    entries = [{"id": name, "object": "model", "created": 1_760_000_000} | extra for name in call.site.models]
    return as_json({"object": "list", "data": entries})


def completion(
    call: Call, *, parts: Callable[[Call], dict[str, Any]] | None = None, most: int = MOST_SAMPLES
) -> Answer:
    """A chat completion for what was asked, streamed when asked so, of at most `most` samples.

    `parts` gives further fields: the key "choice" is merged into each choice, the rest into the body.
    """
    body = _whole(call, most)
    for name, value in (parts(call) if parts else {}).items():
        if name == "choice":
            for choice in body["choices"]:
                choice.update(value)
        else:
            body[name] = value
    return _streamed(body) if call.asked.get("stream") else as_json(body)


def responses(call: Call) -> Reply:
    """The same answer in the shape of OpenAI's other route."""
    said = {"type": "output_text", "text": ANSWER, "annotations": []}
    message = {"type": "message", "role": "assistant", "status": "completed", "content": [said]}
    return as_json(
        {
            "id": f"resp_{call.count('response'):08x}",
            "object": "response",
            "status": "completed",
            "model": call.model,
            "output": [message],
            "usage": {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13},
        }
    )


def _whole(call: Call, most: int) -> dict[str, Any]:
    message, finish = _message(call)
    prompt = prompt_length(call)
    wanted = call.asked.get("n")
    count = max(1, min(wanted if isinstance(wanted, int) else 1, most))
    spoken = len(token_ids(message)) * count
    choice = {"message": message, "logprobs": None, "finish_reason": finish}
    return {
        "id": f"chatcmpl-{call.count('completion'):08x}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": call.model,
        "choices": [{"index": at} | choice for at in range(count)],
        "usage": {"prompt_tokens": prompt, "completion_tokens": spoken, "total_tokens": prompt + spoken},
    }


def _message(call: Call) -> tuple[dict[str, Any], str]:
    """The assistant's message: a tool call when tools were offered and none has answered yet, or as the
    tool's script goes on."""
    asked = call.asked
    tools = asked.get("tools")
    results = [one for one in _messages(asked) if one.get("role") == "tool"]
    function = _function(tools[0]) if isinstance(tools, list) and tools else {}
    script = SCRIPTS.get(str(function.get("name")), ({},))
    if function and len(results) < len(script) and asked.get("tool_choice") != "none":
        made = _tool_call(function, script[len(results)], len(results) + 1)
        return {"role": "assistant", "content": None, "tool_calls": [made]}, "tool_calls"
    scripted = len(script) > 1 and len(results) == len(script)
    said = f"It says {results[-1].get('content')}" if scripted else ANSWER
    return {"role": "assistant", "content": said}, "stop"


def _function(tool: object) -> dict[str, Any]:
    function = tool.get("function") if isinstance(tool, dict) else None
    return function if isinstance(function, dict) else {}


def _tool_call(function: dict[str, Any], passed: dict[str, object], number: int) -> dict[str, Any]:
    properties = function.get("parameters", {}).get("properties", {})
    arguments = passed or {
        name: ARGUMENTS.get(schema.get("type"), "x") for name, schema in properties.items()
    }
    called = {"name": function.get("name", ""), "arguments": json.dumps(arguments)}
    return {"id": f"call_{number:04d}", "type": "function", "function": called}


def _messages(asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages = asked.get("messages")
    return [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []


def prompt_length(call: Call) -> int:
    """Tokens of the prompt by a rule of thumb: words, and four for each message."""
    return sum(len(str(one.get("content", "")).split()) + 4 for one in _messages(call.asked))


def token_ids(message: Mapping[str, Any]) -> list[int]:
    """Stable made-up ids, one for each word of what the message says or calls."""
    text = message.get("content") or json.dumps(message.get("tool_calls") or "")
    return [1000 + sum(word.encode()) % 9000 for word in text.split()]


def logprobs_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """The `logprobs` field: one entry for each token of the message."""
    words = str(message.get("content") or "tool").split()
    rows = [
        {"token": word, "logprob": -0.25, "bytes": list(word.encode()), "top_logprobs": []} for word in words
    ]
    return {"content": rows}


def rollout_fields(call: Call) -> dict[str, Any]:
    """Log-probs and token ids where vLLM puts them, for what was asked; for `completion`'s `parts`."""
    message, _ = _message(call)
    fields: dict[str, Any] = {"choice": {}}
    if call.asked.get("logprobs"):
        fields["choice"]["logprobs"] = logprobs_of(message)
    if call.asked.get("return_token_ids"):
        fields["prompt_token_ids"] = list(range(prompt_length(call)))
        fields["choice"]["token_ids"] = token_ids(message)
    return fields


def reshaped(answer: Answer, change: Callable[[dict[str, Any]], object]) -> Answer:
    """The same JSON reply with its document changed in place; anything else is left as it is."""
    if not isinstance(answer, Reply) or answer.content_type != "application/json":
        return answer
    document = json.loads(answer.body)
    change(document)
    return replace(answer, body=json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def _streamed(body: dict[str, Any]) -> Reply:
    """The completion as server-sent events: a role, the message, the finish reason, DONE."""
    choice = body["choices"][0]
    frame = {
        "id": body["id"],
        "object": "chat.completion.chunk",
        "created": body["created"],
        "model": body["model"],
    }
    spoken = {name: value for name, value in choice["message"].items() if name != "role"}
    if spoken.get("tool_calls"):
        spoken["tool_calls"] = [{"index": at} | one for at, one in enumerate(spoken["tool_calls"])]
    deltas: tuple[tuple[dict[str, Any], str | None], ...] = (
        ({"role": "assistant", "content": ""}, None),
        (spoken, None),
        ({}, choice["finish_reason"]),
    )
    events = [
        json.dumps(frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        for delta, finish in deltas
    ]
    text = "".join(f"data: {event}\n\n" for event in (*events, "[DONE]"))
    return Reply(200, text.encode(), "text/event-stream; charset=utf-8")
