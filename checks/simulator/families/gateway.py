"""An Agent-Lightning 1.x gateway: rollouts, events, models, and a proxy that rewrites each call."""

from __future__ import annotations

import re
from typing import Any

from checks.simulator.call import Call
from checks.simulator.completions import completion, logprobs_of, reshaped, token_ids
from checks.simulator.http import Answer, Reply, as_json

READY_ROLLOUT = "preflight-ready"
"""A rollout that exists from the start, so that the base URL works at once."""
PROXIED = re.compile(
    r"/proxy/rollout/(?P<id>[^/]+)/attempt/\d+/mode/(?P<mode>train|val)/openai/v1/(?P<rest>.+)"
)
ROLLOUT = re.compile(r"/api/rollouts/(?P<id>[^/]+)")
EVENTS = re.compile(r"/api/rollouts/(?P<id>[^/]+)(/attempt/\d+)?/events")


def answer(call: Call) -> Answer:
    """Its routes; health open, the rest behind `Authorization: Bearer` or `x-api-key`."""
    path = call.request.path
    if path == "/healthz":
        return as_json({"status": "ok"})
    if not path.startswith(("/api/", "/proxy/")):
        return _missing("Not Found")
    if not call.admitted:
        return as_json({"detail": "Invalid or missing API key"}, 401)
    if path.startswith("/proxy/"):
        return _proxy(call)
    return _api(call)


def _missing(text: str) -> Reply:
    return as_json({"detail": text}, 404)


def _wrong_method(*allowed: str) -> Reply:
    return as_json({"detail": "Method Not Allowed"}, 405, allow=", ".join(allowed))


def _rollouts(call: Call) -> dict[str, dict[str, Any]]:
    ready = {"rollout_id": READY_ROLLOUT, "state": "running", "is_train": False}
    rollouts: dict[str, dict[str, Any]] = call.site.memory.setdefault("rollouts", {READY_ROLLOUT: ready})
    return rollouts


def _proxy(call: Call) -> Answer:
    path, method, memory = call.request.path, call.request.method, call.site.memory
    if path == "/proxy/state":
        return as_json({"paused": bool(memory.get("paused"))}) if method == "GET" else _wrong_method("GET")
    if path in ("/proxy/pause", "/proxy/resume"):
        memory["paused"] = path == "/proxy/pause"
        return as_json({"paused": memory["paused"]})
    target = PROXIED.fullmatch(path)
    if target is None:
        return _missing("Not Found")
    if method != "POST":
        return _wrong_method("POST")
    if target["rest"] not in ("chat/completions", "completions"):
        return _missing(f"Unsupported upstream path: {target['rest']}")
    return _forwarded(call, target["id"], target["mode"])


def _forwarded(call: Call, rollout: str, mode: str) -> Answer:
    if rollout not in _rollouts(call):
        return _missing(f"Rollout {rollout} not found")
    if call.site.memory.get("paused"):
        return as_json({"detail": "Proxy is paused"}, 429, retry_after="5", x_agl_paused="true")
    if call.asked.get("stream"):
        return as_json({"detail": "Streaming responses are not supported"}, 400)
    if not served(call):
        return as_json({"detail": f"No servers available for model '{call.model}'"}, 503)
    said = reshaped(completion(call), lambda body: _rewrite(call, body, mode))
    _remember(call, rollout, said)
    return said


def served(call: Call) -> list[str]:
    """The registered models: those of the site until someone has changed them."""
    models: list[str] = call.site.memory.setdefault("models", list(call.site.models))
    return models


def _rewrite(call: Call, body: dict[str, Any], mode: str) -> None:
    """What the gateway asks of its upstream beyond the agent's wish: its own model, ids, in training
    log-probs."""
    body["model"] = served(call)[0]
    body["prompt_token_ids"] = list(range(body["usage"]["prompt_tokens"]))
    for choice in body["choices"]:
        choice["token_ids"] = token_ids(choice["message"])
        if mode == "train" or call.asked.get("logprobs"):
            choice["logprobs"] = logprobs_of(choice["message"])


def _remember(call: Call, rollout: str, said: Answer) -> None:
    events = call.site.memory.setdefault("events", {}).setdefault(rollout, [])
    status = said.status if isinstance(said, Reply) else 502
    events.append({"event_type": "model_request", "data": {"http_status": status, "status": "ok"}})


def _api(call: Call) -> Answer:
    path, method = call.request.path, call.request.method
    if path == "/api/models":
        return _models(call)
    if path == "/api/rollouts" and method == "POST":
        return _create(call)
    events = EVENTS.fullmatch(path)
    if events:
        return _events(call, events["id"])
    one = ROLLOUT.fullmatch(path)
    if one is None or one["id"] not in _rollouts(call):
        return _missing("Not Found")
    if method == "DELETE":
        del _rollouts(call)[one["id"]]
        return as_json({"deleted": one["id"]})
    return as_json(_rollouts(call)[one["id"]]) if method == "GET" else _wrong_method("GET", "DELETE")


def _models(call: Call) -> Reply:
    if call.request.method == "DELETE":
        served(call).clear()
        return as_json({"status": "ok"})
    if call.request.method != "POST":
        return _wrong_method("POST", "DELETE")
    document = call.request.document
    entries = [one for one in document if isinstance(one, dict)] if isinstance(document, list) else []
    served(call).extend(str(one.get("model")) for one in entries)
    return as_json(entries)


def _create(call: Call) -> Reply:
    document = call.request.document
    entries = [one for one in document if isinstance(one, dict)] if isinstance(document, list) else []
    for one in entries:
        _rollouts(call)[str(one.get("rollout_id"))] = one | {"state": "queued"}
    return as_json(entries)


def _events(call: Call, rollout: str) -> Reply:
    if rollout not in _rollouts(call):
        return _missing("Not Found")
    kept = call.site.memory.setdefault("events", {}).setdefault(rollout, [])
    if call.request.method == "POST":
        kept.append(call.asked)
    return as_json(kept)
