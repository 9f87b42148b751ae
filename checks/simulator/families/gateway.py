"""An Agent-Lightning 1.x gateway: rollouts, events, models, and a proxy that rewrites each call.

Routes, statuses and shapes are those of 1.0.2, which the same tests meet. It has no upstream of its
own: what it passes on is a healthy completion.
"""

from __future__ import annotations

import json
import re
import time
from typing import Any

from checks.simulator.call import Call
from checks.simulator.completions import completion, logprobs_of, reshaped, token_ids
from checks.simulator.families import gateway_events
from checks.simulator.http import Answer, Reply, as_json

READY_ROLLOUT = "preflight-ready"
"""A rollout that exists from the start, so that the base URL works at once."""
PROXIED = re.compile(
    r"/proxy/rollout/(?P<id>[^/]+)/attempt/\d+/mode/(?P<mode>train|val)/openai/v1/(?P<rest>.+)"
)
ROLLOUT = re.compile(r"/api/rollouts/(?P<id>[^/]+)")
EVENTS = re.compile(r"/api/rollouts/(?P<id>[^/]+)(?P<attempt>/attempt/\d+)?/events")


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
    kept: dict[str, dict[str, Any]] | None = call.site.memory.get("rollouts")
    if kept is None:
        ready = _made({"rollout_id": READY_ROLLOUT, "input": {}, "is_train": False}, "succeeded")
        kept = call.site.memory["rollouts"] = {READY_ROLLOUT: ready}
    return kept


def _made(asked: dict[str, Any], state: str) -> dict[str, Any]:
    now = time.time()
    nothing = {"k8s_job_name": None, "last_attempt_id": None, "error_message": None, "version": 1}
    return {
        "rollout_id": str(asked.get("rollout_id")),
        "input": asked.get("input"),
        "is_train": asked.get("is_train", True),
        "config": {"timeout_seconds": 3600, "local": None, "k8s": None} | (asked.get("config") or {}),
        "metadata": {"batch_idx": None, "sample_idx_in_batch": None},
        "status": {"state": state, "created_at": now, "updated_at": now} | nothing,
    }


def _proxy(call: Call) -> Answer:
    path, method, memory = call.request.path, call.request.method, call.site.memory
    if path == "/proxy/state":
        return as_json(_state(call)) if method == "GET" else _wrong_method("GET")
    if path in ("/proxy/pause", "/proxy/resume"):
        memory["paused"] = path == "/proxy/pause"
        memory["why"] = call.asked.get("reason") if memory["paused"] else None
        return as_json(_state(call))
    target = PROXIED.fullmatch(path)
    if target is None:
        return _missing("Not Found")
    if method != "POST":
        return _wrong_method("POST")
    if target["rest"] not in ("chat/completions", "completions"):
        return _missing(f"Unsupported upstream path: {target['rest']}")
    return _forwarded(call, target["id"], target["mode"])


def _state(call: Call) -> dict[str, Any]:
    memory = call.site.memory
    return {
        "paused": bool(memory.get("paused")),
        "retry_after_seconds": 5,
        "reason": memory.get("why"),
        "inflight": 0,
    }


def _forwarded(call: Call, rollout: str, mode: str) -> Answer:
    if rollout not in _rollouts(call):
        return _missing(f"Rollout not found: {rollout}")
    if not served(call):
        return as_json({"detail": f"No servers available for model '{call.site.models[0]}'"}, 503)
    if call.site.memory.get("paused"):
        why = {"error": "gateway paused", "reason": call.site.memory.get("why")}
        return as_json(why, 429, retry_after="5", x_agl_paused="true")
    if call.asked.get("stream"):
        return as_json({"detail": "Streaming responses are not supported"}, 400)
    said = reshaped(completion(call), lambda body: _rewrite(call, body, mode))
    if isinstance(said, Reply):
        response = json.loads(said.body)
        call.site.memory.setdefault("events", {}).setdefault(rollout, []).append(
            gateway_events.model_request(rollout, _prepared(call, mode), response, said.status)
        )
    return said


def _prepared(call: Call, mode: str) -> dict[str, Any]:
    """The request as it goes on to a model server."""
    trains = mode == "train"
    changed = {
        "model": call.site.models[0],
        "temperature": 1.0 if trains else 0.7,
        "return_token_ids": True,
    }
    return call.asked | changed | ({"logprobs": True} if trains else {})


def served(call: Call) -> list[str]:
    """The registered models: those of the site until someone has changed them."""
    models: list[str] = call.site.memory.setdefault("models", list(call.site.models))
    return models


def _rewrite(call: Call, body: dict[str, Any], mode: str) -> None:
    """What the gateway asks of its upstream beyond the agent's wish: its own model, ids, in training
    log-probs."""
    body["model"] = call.site.models[0]
    body["prompt_token_ids"] = list(range(body["usage"]["prompt_tokens"]))
    for choice in body["choices"]:
        choice["token_ids"] = token_ids(choice["message"])
        if mode == "train" or call.asked.get("logprobs"):
            choice["logprobs"] = logprobs_of(choice["message"])


def _api(call: Call) -> Answer:
    path = call.request.path
    if path == "/api/models":
        return _models(call)
    if path == "/api/rollouts":
        return {"POST": _create, "GET": _list}.get(call.request.method, _neither)(call)
    events = EVENTS.fullmatch(path)
    if events:
        return _events(call, events["id"])
    one = ROLLOUT.fullmatch(path)
    return _one(call, one["id"]) if one else _missing("Not Found")


def _neither(call: Call) -> Reply:
    return _wrong_method("GET", "POST")


def _one(call: Call, ident: str) -> Reply:
    if call.request.method == "DELETE":  # of one that is not there too
        _rollouts(call).pop(ident, None)
        call.site.memory.get("events", {}).pop(ident, None)
        return Reply(204)
    if ident not in _rollouts(call):
        return _missing(f"Rollout not found: {ident}")
    attempts = ["0"] if call.site.memory.get("events", {}).get(ident) else []
    found = {"rollout": _rollouts(call)[ident], "attempts": attempts}
    return as_json(found) if call.request.method == "GET" else _wrong_method("GET", "DELETE", "PATCH")


def _models(call: Call) -> Reply:
    if call.request.method == "DELETE":
        served(call).clear()
        return as_json({"status": "ok"})
    if call.request.method != "POST":
        return _wrong_method("POST", "DELETE")
    entries = _entries(call)
    served(call).extend(str(one.get("model")) for one in entries)
    return as_json([{"version": 0} | one for one in entries], 201)


def _entries(call: Call) -> list[dict[str, Any]]:
    document = call.request.document
    return [one for one in document if isinstance(one, dict)] if isinstance(document, list) else []


def _create(call: Call) -> Reply:
    """A rollout that is there already is given back as it is."""
    kept = _rollouts(call)
    asked = [(str(one.get("rollout_id")), one) for one in _entries(call)]
    return as_json([kept.setdefault(ident, _made(one, "queuing")) for ident, one in asked], 201)


def _list(call: Call) -> Reply:
    """Only the last `state_in` of the query is seen here; a gateway sees them all."""
    query = call.request.query
    if "state_in" not in query:
        return as_json({"detail": [{"type": "missing", "loc": ["query", "state_in"]}]}, 422)
    waiting = [one for one in _rollouts(call).values() if one["status"]["state"] in ("queuing", "running")]
    return as_json(waiting[: int(query.get("limit", "500"))])


def _events(call: Call, rollout: str) -> Reply:
    if rollout not in _rollouts(call):
        return _missing(f"Rollout not found: {rollout}")
    kept = call.site.memory.setdefault("events", {}).setdefault(rollout, [])
    if call.request.method == "POST":
        kept.append(gateway_events.posted(rollout, call.asked))
        return as_json(kept[-1])
    as_triplets = call.request.query.get("format") == "triplet"
    return as_json([gateway_events.trimmed(event) if as_triplets else event for event in kept])
