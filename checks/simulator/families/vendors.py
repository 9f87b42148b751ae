"""Hosted vendors: OpenAI itself, DeepSeek, and one without a fingerprint of its own."""

from __future__ import annotations

from dataclasses import replace

from checks.simulator.call import Call, credential
from checks.simulator.completions import completion, model_list, responses, rollout_fields
from checks.simulator.http import Answer, Reply, as_json

NEW_LENGTH_NAME = ("o1", "o3", "o4", "gpt-5")
"""Model ids with these beginnings take `max_completion_tokens` alone."""


def error(status: int, text: str, kind: str, code: str | None = None, param: str | None = None) -> Reply:
    """The error object that most vendors copy from OpenAI."""
    return as_json({"error": {"message": text, "type": kind, "param": param, "code": code}}, status)


def tail(call: Call) -> str:
    """The credential as a vendor echoes it: stars and its last four characters."""
    sent = credential(call.request)
    return f"{sent[:3]}{'*' * 12}{sent[-4:]}" if len(sent) > 12 else "*" * len(sent)


def openai(call: Call) -> Answer:
    """OpenAI's own routes and refusals, marked by its response headers."""
    answer = _openai(call)
    if not isinstance(answer, Reply):
        return answer
    marks = {"openai-version": "2020-10-01", "x-request-id": f"req_{call.count('request'):032x}"}
    return replace(answer, headers=marks | dict(answer.headers))


def _openai(call: Call) -> Answer:
    path, method = call.request.path, call.request.method
    other = (path, method) == ("/v1/responses", "POST")
    if not call.is_chat and not other and (path, method) != ("/v1/models", "GET"):
        return error(404, f"Invalid URL ({method} {path})", "invalid_request_error")
    if not call.admitted:
        return openai_refusal(call)
    if not call.is_chat and not other:
        return model_list(call, owned_by="organization-owner")
    if call.model not in call.site.models:
        text = f"The model `{call.model}` does not exist or you do not have access to it."
        return error(404, text, "invalid_request_error", "model_not_found")
    return responses(call) if other else _openai_chat(call)


def openai_refusal(call: Call) -> Reply:
    """The 401 for no key, or for one that is not known."""
    if call.key == "none":
        text = "You didn't provide an API key. Send it in an Authorization header using Bearer auth."
        return error(401, text, "invalid_request_error")
    text = f"Incorrect API key provided: {tail(call)}. Your keys are listed on the platform's account page."
    return error(401, text, "invalid_request_error", "invalid_api_key")


def _openai_chat(call: Call) -> Answer:
    if not isinstance(call.asked.get("messages"), list):
        return error(
            400, "Missing required parameter: 'messages'.", "invalid_request_error", param="messages"
        )
    if "max_tokens" in call.asked and call.model.startswith(NEW_LENGTH_NAME):
        return old_length_name()
    return completion(call)


def old_length_name() -> Reply:
    """The 400 of newer models for `max_tokens`."""
    text = (
        "Unsupported parameter: 'max_tokens' is not taken by this model. Use 'max_completion_tokens' instead."
    )
    return error(400, text, "invalid_request_error", "unsupported_parameter", "max_tokens")


def plain(call: Call) -> Answer:
    """A compatible vendor that cannot be told from its headers."""
    path, method = call.request.path, call.request.method
    if not call.is_chat and (path, method) != ("/v1/models", "GET"):
        return as_json(
            {"error": {"message": "No such route.", "type": "not_found", "code": "unknown_url"}}, 404
        )
    if not call.admitted:
        return error(401, "The API key was not accepted.", "authentication_error", "invalid_api_key")
    if not call.is_chat:
        return model_list(call, owned_by="vendor")
    if call.model not in call.site.models:
        return error(
            404, f"Model {call.model} does not exist.", "invalid_request_error", "model_not_found", "model"
        )
    return completion(call, parts=rollout_fields)


def deepseek(call: Call) -> Answer:
    """DeepSeek: with and without `/v1`, an empty 404 for the rest, 400 for a model it has not."""
    if not call.is_chat and call.request.path not in ("/models", "/v1/models"):
        return Reply(404)
    if not call.admitted:
        text = f"Authentication Fails, Your api key: {tail(call)} is invalid"
        return error(401, text, "authentication_error", "invalid_request_error")
    if not call.is_chat:
        return model_list(call, owned_by="deepseek")
    if call.model not in call.site.models:
        return error(400, "Model Not Exist", "invalid_request_error", "invalid_request_error")
    return completion(call)
