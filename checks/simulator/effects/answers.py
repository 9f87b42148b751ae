"""Answers that are no answer: wrong pages, redirects, broken bodies, gateways, dead engines, bad wires."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from checks.simulator import wire
from checks.simulator.call import Call
from checks.simulator.completions import completion, reshaped
from checks.simulator.effects import Effect, Proceed, anywhere, canned, error, on_chat
from checks.simulator.families import engines, relays
from checks.simulator.families.nginx import MARKS, WELCOME, error_page
from checks.simulator.http import Answer, Reply, as_json, as_text

HTML = "text/html; charset=utf-8"
SLOW_SECONDS = 1.5
"""What a slow server takes for its answer."""
BIG_MIB = 50
BOMB_MIB = 64
"""What the bomb unpacks to; it travels as some sixty kilobytes."""
NESTED = 100_000


def changed(change: Any) -> Effect:
    """The healthy completion with its document changed."""
    return on_chat(lambda call: reshaped(completion(call), change))


def page(call: Call) -> Reply:
    """A single-page console, as any path of a relay's web address gives it."""
    return as_text(relays.CONSOLE, content_type=HTML)


html_page = anywhere(page)
html_as_json = anywhere(lambda call: as_text(relays.CONSOLE, content_type="application/json"))
redirect_metadata = anywhere(
    lambda call: Reply(302, headers={"location": "http://169.254.169.254/latest/meta-data/"})
)
redirect_https = anywhere(
    lambda call: error_page(
        301, location=f"https://{call.request.headers.get('host', '')}{call.request.path}"
    )
)
redirect_slash = anywhere(lambda call: Reply(307, headers={"location": call.request.path + "/"}))


def other_dialect(call: Call, proceed: Proceed) -> Answer:
    """Only /responses is spoken: models are listed, and chat is a route unknown here."""
    if not call.is_chat:
        return proceed()
    return as_json({"detail": "Not Found"}, 404)


upstream_arrears: dict[str, Effect] = {
    "one-api": on_chat(
        lambda call: relays.relay_error(
            call, 404, "", "upstream_error", param="404", code="bad_response_status_code"
        )
    ),
    "new-api": on_chat(
        lambda call: relays.relay_error(
            call, 400, "", "upstream_error", param="400", code="bad_response_status_code"
        )
    ),
}
gateway_empty = anywhere(canned(503, {"detail": "No servers available for model '{model}'"}))


def gateway_paused(call: Call, proceed: Proceed) -> Answer:
    """Paused as by its trainer: the state says so, and each chat is told to come again."""
    call.site.memory["paused"] = True
    return proceed()


bad_gateway: dict[str, Effect] = {
    "nginx": anywhere(lambda call: error_page(502)),
    "agl-gateway": on_chat(canned(502, {"detail": "Upstream model server request failed"})),
    "vendor": anywhere(
        canned(
            503,
            "upstream connect error or disconnect/reset before headers. reset reason: connection termination",
            "text/plain",
            {"server": "envoy"},
        )
    ),
}
gateway_gives_up: dict[str, Effect] = {
    "nginx": anywhere(lambda call: error_page(504)),
    "vendor": on_chat(
        canned(
            524,
            {
                "title": "Error 524: A timeout occurred",
                "status": 524,
                "detail": "The origin did not answer within the proxy's window.",
            },
            headers={"server": "cloudflare"},
        )
    ),
}

error_in_200: dict[str, Effect] = {
    "vendor": on_chat(canned(200, error("Provider returned error", code=502))),
    "lmstudio": on_chat(canned(200, {"error": "The model has crashed without further words."})),
}
not_a_completion = on_chat(canned(200, {"status": "ok", "data": {"reply": "hello"}}))
no_choices = changed(lambda body: body.update(choices=[]))
text_answer = on_chat(canned(200, "服务繁忙，请稍后再试", "text/plain; charset=utf-8"))
empty_body = on_chat(lambda call: Reply(200))
bytes_answer = on_chat(canned(200, b"\x1f\x8b\x08\x00 not what it says"))
gzip_garbage = on_chat(canned(200, b"\x00\x01 no gzip at all", headers={"content-encoding": "gzip"}))
nested_json = on_chat(canned(200, b"[" * NESTED))


def text_plain_json(call: Call, proceed: Proceed) -> Answer:
    """The right document under the wrong content type, which Node and the 1.x gateway cannot read."""
    said = proceed()
    return replace(said, content_type="text/plain; charset=utf-8") if isinstance(said, Reply) else said


def _thinking_only(body: dict[str, Any]) -> None:
    choice = body["choices"][0]
    choice["message"] = {
        "role": "assistant",
        "content": "",
        "reasoning_content": "Let me think about it. " * 8,
    }
    choice["finish_reason"] = "length"
    body["usage"]["completion_tokens_details"] = {"reasoning_tokens": body["usage"]["completion_tokens"]}


def _silent(body: dict[str, Any]) -> None:
    body["choices"][0]["message"] = {"role": "assistant", "content": None}


reasoning_only = changed(_thinking_only)
null_content = changed(_silent)
stopped_by_filter = changed(lambda body: body["choices"][0].update(finish_reason="content_filter"))

thinking_refused = on_chat(
    canned(
        400,
        error(
            "parameter.enable_thinking must be set to false for non-streaming calls",
            "invalid_request_error",
            "invalid_parameter_error",
        ),
    )
)
stream_only = on_chat(
    canned(
        400,
        error(
            "This model only support stream mode, please enable the stream parameter to access the model.",
            "invalid_request_error",
            "invalid_parameter_error",
        ),
    )
)
EVENTS = (
    b'data: {"id":"chatcmpl-0","object":"chat.completion.chunk",'
    b'"choices":[{"index":0,"delta":{"content":"All"}}]}\n\n'
)
LAST_EVENT = (
    b'data: {"id":"chatcmpl-0","object":"chat.completion.chunk",'
    b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
)
sse_unasked = on_chat(canned(200, EVENTS + b"data: [DONE]\n\n", "text/event-stream; charset=utf-8"))
done_glued_on = on_chat(
    lambda call: replace(
        _plain(call), body=_plain(call).body + b"\n\ndata: [DONE]\n\n", content_type="text/event-stream"
    )
)
empty_chunk = on_chat(
    canned(
        200,
        b'data: {"id":"","choices":[],"object":"","prompt_filter_results":[]}\n\n'
        + EVENTS
        + LAST_EVENT
        + b"data: [DONE]\n\n",
        "text/event-stream; charset=utf-8",
    )
)


def stream_ignored(call: Call, proceed: Proceed) -> Answer:
    """One plain completion, whatever the stream flag said."""
    body = json.dumps({**call.asked, "stream": False}).encode()
    return completion(replace(call, request=replace(call.request, body=body)))


stream_cut = on_chat(lambda call: wire.cut_stream(Reply(200, EVENTS * 4, "text/event-stream")))


def _plain(call: Call) -> Reply:
    said = completion(call)
    return said if isinstance(said, Reply) else Reply(200)


cut_body = on_chat(lambda call: wire.cut(_plain(call)))
drip = on_chat(lambda call: wire.drip(_plain(call)))
body_50mb = on_chat(lambda call: wire.flood(BIG_MIB))
gzip_bomb = on_chat(lambda call: wire.bomb(BOMB_MIB))
header_flood = on_chat(lambda call: wire.header_flood(1000))
hang = on_chat(lambda call: wire.hang)
hang_up = on_chat(lambda call: wire.hang_up)
reset = on_chat(lambda call: wire.reset)
not_http = anywhere(lambda call: wire.raw(b"-ERR unknown command `POST`, with args beginning with: \r\n"))

overloaded: dict[str, Effect] = {
    "vendor": on_chat(
        canned(503, error("The server is overloaded or not ready yet.", "service_unavailable"))
    ),
    "new-api": on_chat(
        lambda call: relays.relay_error(
            call, 429, "当前分组上游负载已饱和，请稍后再试", "new_api_error", param=""
        )
    ),
}
loading = anywhere(
    canned(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
)
no_ready_pod = anywhere(
    canned(
        503,
        "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
        "text/plain",
        {"server": "envoy"},
    )
)


def slow(call: Call, proceed: Proceed) -> Answer:
    """The family's own answer, with all that was asked of it, late."""
    said = proceed()
    if not isinstance(said, Reply) or not call.is_chat or not call.admitted:
        return said
    return replace(said, delay=SLOW_SECONDS)


def engine_dead(call: Call, proceed: Proceed) -> Answer:
    """vLLM's front without its engine: health and chat are 500, the list of models is still fine."""
    if call.request.path == "/health":
        return Reply(503)
    if call.is_chat and call.admitted:
        text = "EngineCore encountered an issue. See stack trace (above) for the root cause."
        return engines.vllm_error(500, "Internal Server Error", text)
    return proceed()


def asleep(call: Call, proceed: Proceed) -> Answer:
    """vLLM asleep: alive, listed, and silent to every chat; 0.32 calls it paused as well."""
    if call.request.path in ("/is_sleeping", "/is_paused"):
        return as_json({call.request.path[1:]: True})
    if call.request.path == "/metrics":
        return as_text(engines.vllm_metrics(call, awake=False))
    return wire.hang if call.is_chat and call.admitted else proceed()


def development_mode(call: Call, proceed: Proceed) -> Answer:
    """vLLM started with its development routes: listed, and open whatever the key."""
    pages = {
        "/is_sleeping": {"is_sleeping": False},
        "/is_paused": {"is_paused": False},
        "/openapi.json": {"openapi": "3.1.0", "paths": {name: {"post": {}} for name in engines.DEVELOPMENT}},
    }
    page = pages.get(call.request.path)
    return as_json(page) if page is not None and call.request.method == "GET" else proceed()


def wedged(call: Call, proceed: Proceed) -> Answer:
    """vLLM stuck: alive, listed, a request running, and not one token more."""
    if call.request.path == "/metrics":
        return as_text(engines.vllm_metrics(call, awake=True, running=1, tokens=4_096))
    return wire.hang if call.is_chat and call.admitted else proceed()


def crawling(call: Call, proceed: Proceed) -> Answer:
    """vLLM at work on more than it can serve in time: no answer yet, and tokens all the while."""
    if call.request.path == "/metrics":
        tokens = 4_096 + 7 * call.count("crawling")
        return as_text(engines.vllm_metrics(call, awake=True, running=1, tokens=tokens))
    return wire.hang if call.is_chat and call.admitted else proceed()


def flaky(call: Call, proceed: Proceed) -> Answer:
    """Every second chat is refused by a busy server."""
    if call.is_chat and call.admitted and call.count("flaky") % 2:
        return as_json(error("The server is overloaded; try again.", "service_unavailable"), 503)
    return proceed()


static_site = anywhere(lambda call: Reply(200, WELCOME.encode(), "text/html", MARKS))
