"""What a fault makes of a call: pieces from which each effect is put together."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from checks.simulator.call import Call
from checks.simulator.http import Answer, Reply

Proceed = Callable[[], Answer]
"""Gives the healthy answer."""
Effect = Callable[[Call, Proceed], Answer]
"""Answers instead of the healthy family, or changes what it would have said."""


def canned(
    status: int,
    body: object,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Callable[[Call], Reply]:
    """One fixed reply; `{model}` in it becomes the model id that was asked for.

    Text and bytes are sent as they are, everything else as JSON.
    """
    raw = body if isinstance(body, bytes) else _text_of(body).encode()
    plain = isinstance(body, str | bytes)

    def reply(call: Call) -> Reply:
        model = call.model if plain else json.dumps(call.model)[1:-1]
        return Reply(status, raw.replace(b"{model}", model.encode()), content_type, headers or {})

    return reply


def _text_of(body: object) -> str:
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)


def on_chat(reply: Callable[[Call], Answer]) -> Effect:
    """Answer so on the chat route, to a caller with the right key; all else stays healthy."""
    return lambda call, proceed: reply(call) if call.is_chat and call.admitted else proceed()


def behind_the_key(reply: Callable[[Call], Answer]) -> Effect:
    """Answer so wherever this family would let an admitted caller in."""

    def effect(call: Call, proceed: Proceed) -> Answer:
        healthy = proceed()
        found = isinstance(healthy, Reply) and healthy.status not in (404, 405)
        return reply(call) if found and call.admitted and call.key != "none" else healthy

    return effect


def anywhere(reply: Callable[[Call], Answer]) -> Effect:
    """Answer so on every path."""
    return lambda call, proceed: reply(call)


def error(
    text: str, kind: str | None = None, code: str | int | None = None, param: str | None = None
) -> object:
    """The nested error object that most of them use."""
    return {"error": {"message": text, "type": kind, "param": param, "code": code}}


def flat(text: str, kind: str = "BadRequestError", code: int = 400) -> object:
    """The flat error of SGLang and of older vLLM."""
    return {"object": "error", "message": text, "type": kind, "param": None, "code": code}
