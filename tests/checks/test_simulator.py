"""The simulator: real sockets, true-to-life families, faults that can be switched while it runs."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from checks.reason import Reason
from checks.simulator import BEYOND_A_SERVER, FAMILIES, FAULTS, serve
from checks.simulator.effects.asks import ASKS
from tests.checks.simulated import plainly

KEY = "sk-test-simulated-0001"
ELSEWHERE = {"dns", "proxy", "client_config", "host", "sdk", "agent", "rollout", "preflight"}
"""The layers whose faults lie with the client, its network or a host."""
WITH_CHAT = [name for name in FAMILIES if name != "nginx"]


def chat(base_url: str, key: str | None = KEY, **fields: Any) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    body = {"model": "qwen3-8b", "messages": [{"role": "user", "content": "Say hello."}]} | fields
    return plainly.post(f"{base_url}/chat/completions", headers=headers, json=body, timeout=5)


@pytest.mark.parametrize("family", WITH_CHAT)
def test_every_family_answers_a_chat_under_its_base_url(family: str) -> None:
    with serve(family, key=KEY) as server:
        answer = chat(server.base_url)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["choices"][0]["message"]["content"]
    assert answer.json()["usage"]["total_tokens"] > 0


@pytest.mark.parametrize("family", sorted(set(WITH_CHAT) - {"ollama", "lmstudio"}))
def test_every_guarded_family_refuses_a_wrong_key_with_401(family: str) -> None:
    with serve(family, key=KEY) as server:
        assert chat(server.base_url, "sk-test-other").status_code == 401
        assert chat(server.base_url, None).status_code == 401


@pytest.mark.parametrize("family", sorted(set(WITH_CHAT) - {"agl-gateway"}))
def test_every_family_with_a_list_of_models_shows_what_it_serves(family: str) -> None:
    with serve(family, key=KEY, models=("a-1", "b/2")) as server:
        listed = plainly.get(f"{server.base_url}/models", headers={"authorization": f"Bearer {KEY}"}).json()
    assert [entry["id"] for entry in listed["data"]] == ["a-1", "b/2"]


def test_vllm_guards_only_its_version_prefix() -> None:
    with serve("vllm", key=KEY) as server:
        assert plainly.get(f"{server.origin}/health").content == b""
        assert plainly.get(f"{server.origin}/version").json() == {"version": "0.32.0"}
        assert "vllm:engine_sleep_state" in plainly.get(f"{server.origin}/metrics").text
        assert plainly.get(f"{server.base_url}/models").json() == {"error": "Unauthorized"}


def test_vllm_tells_a_wrong_path_from_a_wrong_model() -> None:
    with serve("vllm") as server:
        path = plainly.post(f"{server.origin}/chat/completions", json={})
        model = chat(server.base_url, model="other")
    assert (path.status_code, path.json()) == (404, {"detail": "Not Found"})
    assert (model.status_code, model.json()["error"]["param"]) == (404, "model")


def test_vllm_returns_token_ids_and_logprobs_that_agree() -> None:
    with serve("vllm") as server:
        body = chat(server.base_url, return_token_ids=True, logprobs=True).json()
    choice = body["choices"][0]
    spoken, given = body["usage"]["completion_tokens"], body["usage"]["prompt_tokens"]
    assert len(choice["token_ids"]) == len(choice["logprobs"]["content"]) == spoken
    assert len(body["prompt_token_ids"]) == given


def test_sglang_puts_token_ids_under_its_own_names() -> None:
    with serve("sglang") as server:
        choice = chat(server.base_url, return_token_ids=True, model="anything").json()["choices"][0]
    assert choice["response_token_ids"]
    assert "token_ids" not in choice


def test_newer_openai_models_take_only_the_new_name_of_the_length() -> None:
    with serve("openai", models=("gpt-5-mini",)) as server:
        old = chat(server.base_url, model="gpt-5-mini", max_tokens=256)
        new = chat(server.base_url, model="gpt-5-mini", max_completion_tokens=256)
    assert old.json()["error"]["code"] == "unsupported_parameter"
    assert new.status_code == 200


@pytest.mark.parametrize("family", ["litellm-proxy", "deepseek"])
def test_some_servers_answer_with_and_without_a_version(family: str) -> None:
    with serve(family, key=KEY) as server:
        assert chat(server.origin).status_code == chat(f"{server.origin}/v1").status_code == 200


def test_new_api_answers_its_console_where_the_version_is_wanting() -> None:
    with serve("new-api", key=KEY) as server:
        assert chat(server.origin).text.startswith("<!doctype html>")


def test_azure_takes_a_deployment_on_its_dated_route() -> None:
    with serve("azure", key=KEY, models=("chat-1",)) as server:
        route = f"{server.origin}/openai/deployments/chat-1/chat/completions"
        body: Mapping[str, object] = {"messages": []}
        dated = plainly.post(f"{route}?api-version=2024-08-01-preview", headers={"api-key": KEY}, json=body)
        undated = plainly.post(route, headers={"api-key": KEY}, json=body)
    assert (dated.status_code, undated.json()["error"]["code"]) == (200, "404")


def test_the_gateway_has_no_list_of_models_and_no_streams() -> None:
    with serve("agl-gateway", key=KEY) as server:
        headers = {"x-api-key": KEY}
        assert plainly.get(f"{server.origin}/healthz").json() == {"status": "ok"}
        assert plainly.get(f"{server.base_url}/models", headers=headers).status_code == 405
        assert plainly.get(f"{server.origin}/api/models", headers=headers).status_code == 405
        assert chat(server.base_url, stream=True).status_code == 400


def test_the_gateway_keeps_rollouts_and_their_events() -> None:
    with serve("agl-gateway") as server:
        plainly.post(f"{server.origin}/api/rollouts", json=[{"rollout_id": "r1"}])
        proxied = f"{server.origin}/proxy/rollout/r1/attempt/0/mode/train/openai/v1"
        assert chat(proxied).json()["choices"][0]["logprobs"]["content"]
        assert len(plainly.get(f"{server.origin}/api/rollouts/r1/events?format=triplet").json()) == 1
        assert plainly.call("DELETE", f"{server.origin}/api/rollouts/r1").status_code == 204
        assert chat(proxied).status_code == 404


def test_offered_tools_are_called_with_arguments_of_their_schema() -> None:
    parameters = {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": "run_sql", "parameters": parameters}}]
    with serve("vllm") as server:
        choice = chat(server.base_url, tools=tools).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "run_sql"


def test_a_stream_ends_with_done() -> None:
    with serve("vllm") as server:
        answer = chat(server.base_url, stream=True)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.endswith("data: [DONE]\n\n")


def test_a_recorded_request_says_whether_the_key_was_right_and_never_which() -> None:
    with serve("openai", key=KEY) as server:
        for key in (KEY, "sk-canary-wrong-key", None):
            chat(server.base_url, key)
        seen = server.requests
    assert [one.key for one in seen] == ["right", "wrong", "none"]
    assert KEY not in repr(seen)
    assert "sk-canary-wrong-key" not in repr(seen)


def test_a_recorded_request_holds_method_path_headers_and_document() -> None:
    with serve("vllm") as server:
        plainly.post(f"{server.base_url}/chat/completions", json={"model": "m"}, headers={"x-note": "yes"})
        (seen,) = server.requests
    assert (seen.method, seen.path, seen.json) == ("POST", "/v1/chat/completions", {"model": "m"})
    assert seen.headers["x-note"] == "yes"


def test_a_fault_is_switched_while_the_server_runs() -> None:
    with serve("vllm", key=KEY) as server:
        server.fault = "engine_dead"
        assert chat(server.base_url).status_code == 500
        server.fault = None
        assert chat(server.base_url).status_code == 200


def test_a_fault_at_the_connection_is_switched_on_and_off_again() -> None:
    with serve("vllm", key=KEY, fault="deaf") as server:
        with pytest.raises(httpx.ConnectTimeout):
            plainly.get(server.base_url, timeout=0.2)
        server.fault = None
        assert chat(server.base_url).status_code == 200


def test_a_server_leaves_no_thread_and_no_open_port_behind() -> None:
    with serve("vllm", fault="accept_and_hang") as server:
        port = server.port
        client = socket.create_connection(("127.0.0.1", port))
    client.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("simulated")]


@pytest.mark.parametrize(
    ("family", "fault", "said"),
    [
        ("vlm", None, "There is no family 'vlm'"),
        ("vllm", "on_fire", "There is no fault 'on_fire'"),
        ("vllm", "nothing_loaded", "cannot do 'nothing_loaded'; these can: lmstudio"),
        ("vllm", "certificate_expired", "needs a TLS context"),
    ],
)
def test_an_order_that_cannot_be_met_is_refused_at_once(family: str, fault: str | None, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        serve(family, fault=fault)


def test_every_code_of_the_scripted_layers_has_a_fault_or_says_why_not() -> None:
    expected = {fault.expects for fault in FAULTS.values()} | set(BEYOND_A_SERVER)
    assert {str(reason) for reason in Reason if reason.layer not in ELSEWHERE} - expected == set()


def test_every_fault_names_a_real_code_family_and_question() -> None:
    for fault in FAULTS.values():
        assert fault.expects in {"", *map(str, Reason)}
        assert set(fault.effects) <= set(FAMILIES)
        assert fault.asks in {"", *ASKS}
