"""What a caller may ask for, so that faults which lie in the question show only then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from checks.simulator.call import Call
from checks.simulator.families import engines


def _parts(call: Call) -> list[dict[str, Any]]:
    """Every content part that was sent as an object."""
    listed = [one["content"] for one in _messages(call) if isinstance(one.get("content"), list)]
    return [part for parts in listed for part in parts if isinstance(part, dict)]


def _messages(call: Call) -> list[dict[str, Any]]:
    messages = call.asked.get("messages")
    return [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []


ASKS: Mapping[str, Callable[[Call], bool]] = {
    "developer_role": lambda call: any(one.get("role") == "developer" for one in _messages(call)),
    "content_parts": lambda call: bool(_parts(call)),
    "image": lambda call: any(part.get("type") == "image_url" for part in _parts(call)),
    "logprobs": lambda call: bool(call.asked.get("logprobs")),
    "long_answer": lambda call: engines.wanted_tokens(call.asked) > 8192,
    "new_length": lambda call: "max_completion_tokens" in call.asked,
    "no_json": lambda call: not call.asked,
    "stream": lambda call: bool(call.asked.get("stream")),
    "temperature": lambda call: "temperature" in call.asked,
    "thinking": lambda call: bool(call.asked.get("enable_thinking")) and not call.asked.get("stream"),
    "token_ids": lambda call: bool(call.asked.get("return_token_ids")),
    "tools": lambda call: bool(call.asked.get("tools")),
    "tool_choice": lambda call: call.asked.get("tool_choice") not in (None, "auto", "none"),
    "tool_history": lambda call: any(one.get("tool_calls") for one in _messages(call)),
    "response_format": lambda call: bool(call.asked.get("response_format")),
    "extra_field": lambda call: "chat_template_kwargs" in call.asked,
    "assistant_turn": lambda call: any(one.get("role") == "assistant" for one in _messages(call)),
}
"""Faults that show only when asked for: the name of the question, and how it is recognised."""
