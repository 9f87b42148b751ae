"""For each question that a fault may wait for, the fields of a chat that ask it."""

from __future__ import annotations

from typing import Any

_IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}

ASKED: dict[str, dict[str, Any]] = {
    "assistant_turn": {"messages": [{"role": "assistant", "content": "Four."}]},
    "content_parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hello."}]}]},
    "developer_role": {"messages": [{"role": "developer", "content": "Be brief."}]},
    "extra_field": {"chat_template_kwargs": {"enable_thinking": False}},
    "image": {"messages": [{"role": "user", "content": [_IMAGE]}]},
    "logprobs": {"logprobs": True},
    "long_answer": {"max_tokens": 100_000},
    "new_length": {"max_completion_tokens": 8},
    "no_json": {},
    "response_format": {"response_format": {"type": "json_schema"}},
    "stream": {"stream": True},
    "temperature": {"temperature": 0},
    "thinking": {"enable_thinking": True},
    "token_ids": {"return_token_ids": True},
    "tool_choice": {"tool_choice": "required"},
    "tool_history": {"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}]}]},
    "tools": {"tools": [{"type": "function", "function": {"name": "now"}}]},
}
