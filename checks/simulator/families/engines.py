"""Inference engines: vLLM as 0.32 answers, SGLang as 0.5.23 does."""

from __future__ import annotations

from typing import Any

from checks.simulator.call import Call
from checks.simulator.completions import (
    completion,
    logprobs_of,
    model_list,
    prompt_length,
    reshaped,
    responses,
    rollout_fields,
    token_ids,
)
from checks.simulator.http import Answer, Reply, as_json, as_text

VLLM_GUARDED = ("/v1", "/v2", "/inference")
"""The only prefixes vLLM asks a key for; everything else stays open."""
DEVELOPMENT = ("/sleep", "/wake_up", "/collective_rpc", "/update_weights", "/v1/chat/completions")
"""A part of what vLLM's development mode lists."""
SGLANG_OPEN = ("/health", "/ready", "/metrics")
"""The only prefixes SGLang asks no key for."""


def vllm(call: Call) -> Answer:
    """vLLM's routes: health, version and metrics open; models and completions behind the key."""
    path = call.request.path
    if path.startswith(VLLM_GUARDED) and not call.admitted:
        return as_json({"error": "Unauthorized"}, 401)
    if call.is_chat:
        return _vllm_chat(call)
    if path == "/v1/responses" and call.request.method == "POST":
        return responses(call) if call.model in call.site.models else _unknown_model(call)
    routes = {
        "/health": lambda: Reply(200),
        "/ping": lambda: Reply(200),
        "/version": lambda: as_json({"version": "0.32.0"}),
        "/metrics": lambda: as_text(vllm_metrics(call, awake=True)),
        "/v1/models": lambda: _vllm_models(call),
    }
    if path in call.site.family.chat:
        return as_json({"detail": "Method Not Allowed"}, 405, allow="POST")
    return routes[path]() if path in routes and call.request.method == "GET" else _no_route()


def _no_route() -> Reply:
    return as_json({"detail": "Not Found"}, 404)


def _vllm_models(call: Call) -> Reply:
    return model_list(call, owned_by="vllm", root="/models/local", max_model_len=call.site.max_model_len)


def vllm_metrics(call: Call, *, awake: bool, running: int = 0, tokens: int | None = None) -> str:
    """The Prometheus text, with the gauge that tells a sleeping engine from a busy one; `tokens` is the
    counter of generated ones, left out where the engine was started without its statistics."""
    labels = f'engine="0",model_name="{call.site.models[0] if call.site.models else ""}"'
    counter = "" if tokens is None else f"vllm:generation_tokens_total{{{labels}}} {float(tokens)}\n"
    return (
        "# TYPE vllm:num_requests_running gauge\n"
        f"vllm:num_requests_running{{{labels}}} {float(running)}\n"
        f"vllm:num_requests_waiting{{{labels}}} 0.0\n"
        f"{counter}"
        "# TYPE vllm:engine_sleep_state gauge\n"
        f'vllm:engine_sleep_state{{{labels},sleep_state="awake"}} {float(awake)}\n'
    )


def vllm_error(status: int, kind: str, text: str, param: str | None = None) -> Reply:
    """vLLM's nested error object; its code repeats the status as a number."""
    return as_json({"error": {"message": text, "type": kind, "param": param, "code": status}}, status)


def _vllm_chat(call: Call) -> Answer:
    asked = call.asked
    if not isinstance(asked.get("messages"), list):
        return vllm_error(400, "Bad Request", "1 validation error:\n  Field required", "body.messages")
    if call.model not in call.site.models:
        return _unknown_model(call)
    wanted, room = wanted_tokens(asked), call.site.max_model_len
    if wanted > room:
        name = "max_tokens" if asked.get("max_tokens") == wanted else "max_completion_tokens"
        text = f"{name}={wanted} cannot be greater than max_model_len={room}. Ask for fewer output tokens."
        return vllm_error(400, "BadRequestError", text, name)
    if prompt_length(call) > room:
        text = f"This model's maximum context length is {room} tokens; the prompt exceeds it."
        return vllm_error(400, "BadRequestError", text, "input_tokens")
    return completion(call, parts=_vllm_fields)


def _unknown_model(call: Call) -> Reply:
    known = ", ".join(call.site.models)
    text = f"The model `{call.model}` does not exist. Valid aliases: {known}"
    return vllm_error(404, "NotFoundError", text, "model")


def wanted_tokens(asked: dict[str, Any]) -> int:
    """The answer's length asked for under either name; 0 when neither holds a number."""
    sizes = (asked.get("max_tokens"), asked.get("max_completion_tokens"))
    return max((size for size in sizes if isinstance(size, int)), default=0)


def _vllm_fields(call: Call) -> dict[str, Any]:
    fields = rollout_fields(call)
    fields["choice"]["stop_reason"] = None
    return fields


def sglang(call: Call) -> Answer:
    """SGLang's routes: all but health and metrics behind the key, errors flat, any model id served."""
    path = call.request.path
    if not path.startswith(SGLANG_OPEN) and not call.admitted:
        return as_json({"error": "Unauthorized"}, 401)
    if call.is_chat:
        return _sglang_chat(call)
    if path == "/health":
        return Reply(200)
    if path == "/v1/models" and call.request.method == "GET":
        return model_list(
            call, owned_by="sglang", root="/models/local", max_model_len=call.site.max_model_len
        )
    return _no_route()


def sglang_error(text: str, status: int = 400, kind: str = "BadRequestError") -> Reply:
    """SGLang's flat error body."""
    return as_json({"object": "error", "message": text, "type": kind, "param": None, "code": status}, status)


def _sglang_chat(call: Call) -> Answer:
    room, length = call.site.max_model_len, prompt_length(call)
    if not isinstance(call.asked.get("messages"), list):
        return sglang_error("The request holds no messages.")
    if length > room:
        text = f"The input ({length} tokens) is longer than the model's context length ({room} tokens)."
        return sglang_error(text)
    return reshaped(completion(call), lambda body: _sglang_extras(call, body))


def _sglang_extras(call: Call, body: dict[str, Any]) -> None:
    for choice in body["choices"]:
        choice["matched_stop"] = 151_645
        choice["message"] |= {"reasoning_content": None, "tool_calls": choice["message"].get("tool_calls")}
        if call.asked.get("logprobs"):
            choice["logprobs"] = logprobs_of(choice["message"])
        if call.asked.get("return_token_ids"):
            choice["prompt_token_ids"] = list(range(body["usage"]["prompt_tokens"]))
            choice["response_token_ids"] = token_ids(choice["message"])
