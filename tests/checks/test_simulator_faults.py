"""The simulator's faults, each seen by a plain client: what shows, to whom, and when."""

from __future__ import annotations

import json
import socket
import ssl
from pathlib import Path
from typing import Any

import httpx
import pytest

from checks.simulator import FAULTS, serve
from tests.checks.simulated import plainly
from tests.checks.simulated.certificates import context_with
from tests.checks.simulated.questions import ASKED

KEY = "sk-test-simulated-0001"


def ask(base_url: str, key: str = KEY, **fields: Any) -> httpx.Response:
    body = {"model": "qwen3-8b", "messages": [{"role": "user", "content": "Say hello."}]} | fields
    headers = {"authorization": f"Bearer {key}"}
    return plainly.post(f"{base_url}/chat/completions", headers=headers, json=body, timeout=2)


def shape(answer: httpx.Response) -> object:
    """The answer without what changes from one call to the next."""
    if answer.status_code != 200:
        return answer.status_code
    document = answer.json() if answer.headers["content-type"] == "application/json" else answer.text
    return {**document, "id": "", "created": 0} if isinstance(document, dict) else document


@pytest.mark.parametrize(
    ("name", "family"),
    [
        (name, family)
        for name, fault in FAULTS.items()
        if fault.asks and name not in ("stream_cut", "body_unread")
        for family in fault.effects
    ],
)
def test_a_fault_that_lies_in_the_question_shows_only_when_asked(name: str, family: str) -> None:
    question = ASKED[FAULTS[name].asks]
    with serve(family, key=KEY) as server:
        healthy, healthy_when_asked = shape(ask(server.base_url)), shape(ask(server.base_url, **question))
        server.fault = name
        assert shape(ask(server.base_url)) == healthy
        assert shape(ask(server.base_url, **question)) != healthy_when_asked


def test_an_unreadable_body_is_refused_by_vllm() -> None:
    with serve("vllm", fault="body_unread") as server:
        answer = plainly.post(f"{server.base_url}/chat/completions", content=b"model=qwen3-8b")
    assert "Unsupported Media Type" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "name", sorted(name for name, fault in FAULTS.items() if fault.expects == "quota_exhausted")
)
def test_a_fault_behind_the_key_does_not_hide_a_wrong_key(name: str) -> None:
    for family in FAULTS[name].effects:
        with serve(family, key=KEY, fault=name) as server:
            assert ask(server.base_url, "sk-test-other").status_code == 401


def first_byte(port: int, request: bytes) -> bytes:
    """What comes back first for that request, on a bare socket."""
    with socket.create_connection(("127.0.0.1", port), timeout=2) as client:
        client.sendall(request)
        return client.recv(1)


@pytest.mark.parametrize(
    ("name", "request_line"), [("reset", b"POST /v1/chat/completions HTTP/1.1"), ("reset_on_accept", b"")]
)
def test_a_reset_is_a_reset_on_the_wire(name: str, request_line: bytes) -> None:
    request = request_line + b"\r\n\r\n" if request_line else b""
    with serve("vllm", fault=name) as server, pytest.raises(ConnectionResetError):
        first_byte(server.port, request)


@pytest.mark.parametrize("name", ["accept_and_hang", "hang", "asleep", "drip"])
def test_a_silent_or_dripping_server_outlasts_the_clients_patience(name: str) -> None:
    with serve("vllm", key=KEY, fault=name) as server:
        server.fault = name
        with pytest.raises(httpx.ReadTimeout):
            plainly.post(
                f"{server.base_url}/chat/completions",
                headers={"authorization": f"Bearer {KEY}"},
                json={"model": "qwen3-8b", "messages": []},
                timeout=0.3,
            )


def test_a_sleeping_engine_is_healthy_and_says_that_it_sleeps() -> None:
    with serve("vllm", key=KEY, fault="asleep") as server:
        assert plainly.get(f"{server.origin}/health").status_code == 200
        assert plainly.get(f"{server.origin}/is_sleeping").json() == {"is_sleeping": True}
        assert 'sleep_state="awake"} 0.0' in plainly.get(f"{server.origin}/metrics").text


def test_a_dead_engine_still_lists_its_models() -> None:
    with serve("vllm", key=KEY, fault="engine_dead") as server:
        listed = plainly.get(f"{server.base_url}/models", headers={"authorization": f"Bearer {KEY}"})
        assert (listed.status_code, ask(server.base_url).status_code) == (200, 500)
        assert plainly.get(f"{server.origin}/health").status_code == 503


def test_a_flaky_server_refuses_every_second_chat() -> None:
    with serve("vllm", key=KEY, fault="flaky") as server:
        assert [ask(server.base_url).status_code for _ in range(4)] == [503, 200, 503, 200]


@pytest.mark.parametrize(("name", "stream"), [("cut_body", False), ("stream_cut", True)])
def test_a_broken_off_answer_ends_before_its_end(name: str, stream: bool) -> None:
    with (
        serve("vllm", key=KEY, fault=name) as server,
        pytest.raises(httpx.RemoteProtocolError, match="peer closed"),
    ):
        ask(server.base_url, stream=stream)


def test_the_bomb_is_small_on_the_wire_and_large_unpacked() -> None:
    with serve("vllm", key=KEY, fault="gzip_bomb") as server:
        answer = ask(server.base_url)
    assert int(answer.headers["content-length"]) < 1_000_000
    assert len(answer.content) > 64_000_000


def test_fifty_megabytes_are_sent_only_as_far_as_they_are_read() -> None:
    with serve("vllm", fault="body_50mb") as server, httpx.Client(verify=plainly.NO_AUTHORITIES) as client:
        request = client.build_request("POST", f"{server.base_url}/chat/completions", json={})
        answer = client.send(request, stream=True)
        assert answer.headers["content-length"] == str(50 * 1024 * 1024 + 2)
        assert next(answer.iter_raw(1024)) == b'"' + b"x" * 1023
        answer.close()


def test_a_redirect_leads_to_the_metadata_address() -> None:
    with serve("openai", fault="redirect_metadata") as server:
        answer = plainly.post(f"{server.base_url}/chat/completions", json={})
    assert (answer.status_code, answer.headers["location"][:23]) == (302, "http://169.254.169.254/")


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        (None, "/v1"),
        ("no_version", ""),
        ("double_version", "/v1/v1"),
        ("full_endpoint", "/v1/chat/completions"),
        ("wrong_segment", "/product/v1"),
    ],
)
def test_a_fault_of_the_address_shows_in_the_base_url(fault: str | None, path: str) -> None:
    with serve("vendor", fault=fault) as server:
        assert server.base_url == server.origin + path


def test_a_plain_request_to_a_tls_port_is_told_so(tmp_path: Path) -> None:
    with serve("vllm", tls=context_with("good", tmp_path).server, fault="http_url_to_tls_port") as server:
        answer = plainly.post(f"{server.base_url}/chat/completions", json={})
    assert answer.status_code == 400
    assert "HTTP request to an HTTPS server" in answer.text


def test_tls_spoken_to_a_plain_port_is_answered_in_plain_text() -> None:
    with (
        serve("vllm", fault="https_url_to_plain_port") as server,
        pytest.raises(httpx.ConnectError) as caught,
    ):
        ask(server.base_url)
    assert "WRONG_VERSION_NUMBER" in str(caught.value)


def test_a_good_certificate_is_trusted_by_who_trusts_its_issuer(tmp_path: Path) -> None:
    made = context_with("good", tmp_path)
    with serve("vllm", tls=made.server) as server:
        trusting = ssl.create_default_context(cafile=made.ca_file)
        answer = plainly.get(f"{server.origin}/version", verify=trusting)
    assert answer.json() == {"version": "0.32.0"}


def test_what_is_no_http_is_refused_without_harm() -> None:
    with serve("vllm") as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(b"GET nothing\r\n\r\n")
            assert client.recv(1024).startswith(b"HTTP/1.1 400 ")
        assert plainly.get(f"{server.origin}/health").status_code == 200


def test_deeply_nested_brackets_are_beyond_the_json_reader() -> None:
    with serve("vllm", key=KEY, fault="nested_json") as server:
        body = ask(server.base_url).content
    with pytest.raises((RecursionError, json.JSONDecodeError)):
        json.loads(body)
