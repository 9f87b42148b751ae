"""The litellm proxy, as 1.108 answers with a database behind it."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from checks.simulator.call import Call, credential
from checks.simulator.completions import completion, model_list, rollout_fields
from checks.simulator.http import Answer, Reply, as_json, as_text


def answer(call: Call) -> Answer:
    """Its routes with and without `/v1`; liveness open, everything else behind the key."""
    path = call.request.path
    if path == "/health/liveliness":
        return as_json("I'm alive!")
    models = path in ("/models", "/v1/models") and call.request.method == "GET"
    if not call.is_chat and not models:
        return as_json({"detail": "Not Found"}, 404)
    if not call.admitted:
        return refusal(call)
    if models:
        return model_list(call, owned_by="openai")
    return _chat(call)


def error(status: int, text: str, kind: str, param: str = "None") -> Reply:
    """litellm's error object: `None` and the code are strings."""
    return as_json({"error": {"message": text, "type": kind, "param": param, "code": str(status)}}, status)


def refusal(call: Call) -> Reply:
    """The 401 for no key, for one without the prefix, and for one that is not in the database."""
    sent = credential(call.request)
    if not sent:
        return error(401, "Authentication Error, No api key passed in.", "auth_error")
    if not sent.startswith("sk-"):
        text = "Authentication Error, LiteLLM Virtual Key expected, expected to start with 'sk-'."
        return error(401, text, "auth_error")
    text = (
        f"Authentication Error, Invalid proxy server token passed. Received API Key = sk-...{sent[-4:]}, "
        f"Key Hash (Token) ={sha256(sent.encode()).hexdigest()}. Unable to find token in the database."
    )
    return error(401, text, "token_not_found_in_db", "key")


def refusal_without_database(call: Call) -> Reply:
    """What a proxy that has only its master key says to any other key: a 400 about its database. With no
    key at all it breaks on the client of that database, which is not installed."""
    if not credential(call.request):
        return as_text("Internal Server Error", 500)
    return as_json(
        {"error": {"message": "No connected db.", "type": "no_db_connection", "param": None, "code": "400"}},
        400,
    )


def _chat(call: Call) -> Answer:
    if call.model not in call.site.models:
        text = f"/chat/completions: Invalid model name passed in model={call.model}. See `/v1/models`."
        said = {"message": text, "type": "invalid_request_error", "param": None, "code": "400"}
        return as_json({"error": said | {"provider_specific_fields": {"error": text}}}, 400)
    reply = completion(call, parts=rollout_fields)
    marks = {"x-litellm-version": "1.108.7", "x-litellm-model-group": call.model}
    return replace(reply, headers=marks) if isinstance(reply, Reply) else reply
