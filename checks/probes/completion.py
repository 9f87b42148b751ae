"""Is an answer a chat completion: what every client of the chain needs to find in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from checks.egress import Exchange

MAX_COUNTED_TOKENS: Final = 100_000_000
MAX_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class Completion:
    """A chat completion that clients can read. `json_type` says whether the answer calls itself JSON;
    `model` and `finish_reason` are what the server wrote, capped, empty when absent."""

    model: str
    finish_reason: str
    json_type: bool


def read_json(exchange: Exchange) -> object:
    """Return the body of a 2xx answer as JSON; None when there is none or it is not JSON."""
    if exchange.failure is not None or exchange.status is None or not 200 <= exchange.status < 300:
        return None
    try:
        parsed: object = json.loads(exchange.body)
    except (ValueError, RecursionError):
        return None
    return parsed


def read_completion(exchange: Exchange, body: object) -> Completion | None:
    """Return the completion in `body`, or None: `choices[0].message` must be an object, and no error
    may stand beside it. Its text may be empty: a reasoning model that ran into the cap is alive."""
    if not isinstance(body, Mapping) or body.get("error"):
        return None
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return None
    if not isinstance(choices[0].get("message"), Mapping):
        return None
    return Completion(
        model=_shown(body.get("model")),
        finish_reason=_shown(choices[0].get("finish_reason")),
        json_type=is_json_type(exchange.header("content-type")),
    )


def is_json_type(content_type: str) -> bool:
    """Tell whether clients that look at the type would parse the body: Node's do, and the
    Agent-Lightning gateway does."""
    media = content_type.partition(";")[0].strip().lower()
    return media == "application/json" or (media.startswith("application/") and media.endswith("+json"))


def tokens_spent(body: object) -> int:
    """Return `usage.total_tokens`; 0 where the server does not count, or counts absurdly."""
    usage = body.get("usage") if isinstance(body, Mapping) else None
    total = usage.get("total_tokens") if isinstance(usage, Mapping) else None
    if not isinstance(total, int) or isinstance(total, bool):
        return 0
    return total if 0 <= total <= MAX_COUNTED_TOKENS else 0


def _shown(value: object) -> str:
    return value[:MAX_SHOWN] if isinstance(value, str) else ""
