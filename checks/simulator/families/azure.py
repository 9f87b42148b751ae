"""Azure OpenAI: deployments instead of models, on its new and on its dated routes."""

from __future__ import annotations

import re
from dataclasses import replace

from checks.simulator.call import Call
from checks.simulator.completions import completion, model_list
from checks.simulator.http import Answer, Reply, as_json

MARKS = {
    "apim-request-id": "00000000-0000-4000-8000-000000000000",
    "x-ms-region": "Sweden Central",
    "x-content-type-options": "nosniff",
}
DATED = re.compile(r"/openai/deployments/(?P<deployment>[^/]+)/chat/completions")
API_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}(-preview)?")


def answer(call: Call) -> Answer:
    """Either route; a wrong path and an unknown deployment are both 404, told apart by the code."""
    said = _answer(call)
    return replace(said, headers=MARKS) if isinstance(said, Reply) else said


def error(status: int, code: str, text: str) -> Reply:
    """Azure's error object: a code and a message, nothing else."""
    return as_json({"error": {"code": code, "message": text}}, status)


def _answer(call: Call) -> Answer:
    path = call.request.path
    dated = DATED.fullmatch(path)
    models = path == "/openai/v1/models" and call.request.method == "GET"
    if not call.is_chat and not models:
        return error(404, "404", "Resource not found")
    if dated and not API_VERSION.fullmatch(call.request.query.get("api-version", "")):
        return error(404, "404", "Resource not found")
    if not call.admitted:
        return refusal()
    if models:
        return model_list(call, owned_by="azure")
    deployment = dated["deployment"] if dated else call.model
    if deployment not in call.site.models:
        return error(404, "DeploymentNotFound", "The API deployment for this resource does not exist.")
    return completion(call)


def refusal() -> Reply:
    """The 401 for a key that the resource does not know."""
    text = "Access denied due to invalid subscription key or wrong API endpoint. Use a key of this resource."
    return error(401, "401", text)
