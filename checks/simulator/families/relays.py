"""Chinese relays: one-api, and new-api, which grew out of it."""

from __future__ import annotations

from checks.simulator.call import Call
from checks.simulator.completions import completion, model_list
from checks.simulator.http import Answer, Reply, as_json, as_text

CONSOLE = (
    '<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>New API</title></head>'
    '<body><div id="root"></div><script src="/assets/index.js"></script></body></html>'
)
"""The single page that new-api serves for every path that is no API route."""


def one_api(call: Call) -> Answer:
    """one-api: the API under `/v1`, a JSON 404 elsewhere."""
    if not call.request.path.startswith("/v1/"):
        return invalid_url(call)
    return _relayed(call, "one_api_error")


def new_api(call: Call) -> Answer:
    """new-api: the API under `/v1`, its web console everywhere else, also for a POST."""
    if call.request.path == "/api/status":
        return as_json(
            {"success": True, "message": "", "data": {"system_name": "New API", "version": "v0.9.0"}}
        )
    if not call.request.path.startswith("/v1/"):
        return as_text(CONSOLE, content_type="text/html; charset=utf-8")
    return _relayed(call, "new_api_error")


def invalid_url(call: Call) -> Reply:
    """The 404 of both for a route that the API lacks."""
    text = f"Invalid URL ({call.request.method} {call.request.path})"
    return as_json(
        {"error": {"message": text, "type": "invalid_request_error", "param": "", "code": ""}}, 404
    )


def relay_error(call: Call, status: int, text: str, kind: str, **more: str) -> Reply:
    """A relay's error object, with the request id it adds to each sentence."""
    number = f"20260101000000{call.count('request'):09d}"
    said = {"message": f"{text} (request id: {number}AbCdEfGh)", "type": kind} | more
    reply = as_json({"error": said}, status)
    return Reply(reply.status, reply.body, "application/json; charset=utf-8")


def _relayed(call: Call, kind: str) -> Answer:
    models = call.request.path == "/v1/models" and call.request.method == "GET"
    if not call.is_chat and not models:
        return invalid_url(call)
    if call.key == "none" and call.site.key is not None:
        return relay_error(call, 401, "未提供令牌", kind)
    if not call.admitted:
        return relay_error(call, 401, "无效的令牌", kind)
    if models:
        return model_list(call, owned_by="custom")
    if call.model not in call.site.models:
        return no_channel(call, kind)
    return completion(call)


def no_channel(call: Call, kind: str) -> Reply:
    """The 503 for a model that no channel of the caller's group serves; new-api adds a code."""
    text = f"当前分组 default 下对于模型 {call.model} 无可用渠道"
    return relay_error(
        call, 503, text, kind, **({"code": "model_not_found"} if kind == "new_api_error" else {})
    )
