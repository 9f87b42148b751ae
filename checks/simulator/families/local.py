"""Desktop servers: Ollama and LM Studio, which ask for no key."""

from __future__ import annotations

from checks.simulator.call import Call
from checks.simulator.completions import completion, model_list
from checks.simulator.http import Answer, Reply, as_json, as_text


def ollama(call: Call) -> Answer:
    """Ollama's compatible routes under `/v1`, its own under `/api`, Go's plain 404 elsewhere."""
    path, method = call.request.path, call.request.method
    if call.is_chat:
        return _ollama_chat(call)
    if method != "GET":
        return as_text("404 page not found", 404)
    if path == "/v1/models":
        return model_list(call, owned_by="library")
    routes = {
        "/": lambda: as_text("Ollama is running"),
        "/api/version": lambda: as_json({"version": "0.14.2"}),
        "/api/tags": lambda: as_json(
            {"models": [{"name": name, "model": name} for name in call.site.models]}
        ),
    }
    return routes[path]() if path in routes else as_text("404 page not found", 404)


def ollama_error(status: int, text: str) -> Reply:
    """Ollama's error object on its compatible routes."""
    kind = "not_found_error" if status == 404 else "api_error"
    return as_json({"error": {"message": text, "type": kind, "param": None, "code": None}}, status)


def _ollama_chat(call: Call) -> Answer:
    if call.model not in call.site.models:
        return ollama_error(404, f'model "{call.model}" not found, try pulling it first')
    return completion(call, parts=lambda _: {"system_fingerprint": "fp_ollama"}, most=1)


def lmstudio(call: Call) -> Answer:
    """LM Studio: a route it has not is a 200 with an error string."""
    if call.is_chat:
        if call.model not in call.site.models:
            return lmstudio_error(404, f'Model "{call.model}" not found. Download it first.')
        return completion(call)
    if call.request.path == "/v1/models" and call.request.method == "GET":
        return model_list(call, owned_by="organization_owner")
    return as_json({"error": f"Unexpected endpoint or method. ({call.request.method} {call.request.path})"})


def lmstudio_error(status: int, text: str) -> Reply:
    """LM Studio's error object; it blames the parameter `model`."""
    said = {"message": text, "type": "invalid_request_error", "param": "model", "code": None}
    return as_json({"error": said}, status)
