"""Events of an Agent-Lightning 1.x gateway, whole and trimmed to what a trainer reads (shapes of 1.0.2)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

FIRST_ERROR = 400


def model_request(
    rollout: str, asked: Mapping[str, Any], response: Mapping[str, Any], status: int
) -> dict[str, Any]:
    """What the proxy records of a call that reached its model server; `asked` is what it sent there."""
    model = asked["model"]
    data = {
        "model": model,
        "model_version": 0,
        "request": dict(asked),
        "response": dict(response),
        "server": {"model": model, "endpoint": "http://127.0.0.1:8000/v1", "version": 0},
        "latency_ms": 1.0,
        "http_status": status,
        "status": "ok" if status < FIRST_ERROR else "error",
        "retry_count": 0,
        "usage": response.get("usage"),
    }
    return _event(rollout, "model_request", data)


def posted(rollout: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """What an agent told: a reward, or whatever else it calls its event."""
    data = document.get("data")
    return _event(rollout, str(document.get("event_type")), dict(data) if isinstance(data, dict) else {})


def _event(rollout: str, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "event_type": kind,
        "rollout_id": rollout,
        "attempt_id": "0",
        "timestamp": time.time(),
        "data": data,
    }


def trimmed(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event as `format=triplet` gives it."""
    data = event["data"]
    if event["event_type"] == "reward":
        return {**event, "data": {"value": data.get("value")}}
    if event["event_type"] != "model_request":
        return dict(event)
    response = data["response"]
    choice: dict[str, Any] = next(iter(response.get("choices", [])), {})
    told = (choice.get("logprobs") or {}).get("content")
    kept = {
        "prompt_token_ids": response.get("prompt_token_ids", []),
        "response_token_ids": choice.get("token_ids", []),
        "response_log_probs": [one["logprob"] for one in told] if told else None,
        "server": {"model": data["server"]["model"], "version": data["server"]["version"]},
        "http_status": data["http_status"],
        "status": data["status"],
    }
    return {**event, "data": kept | ({"error": response["error"]} if "error" in response else {})}
