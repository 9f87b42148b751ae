"""Base URL candidates: asked only after a path failure, on the same host, and they decide the verdict."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from checks import LaneSpec, Masked, Outcome, Reason, Rung, Status, Step, run
from checks.probes.candidates import location_base, neighbours
from checks.simulator import Server
from checks.simulator import serve as simulate
from tests.checks.conftest import Serve
from tests.checks.local import KEY, LOOPBACK, Behaviour, LocalServer, answering, completion, head

SITE_KEY = "sk-test-simulated-0001"
PAGE = answering(404, "<html><body>404 Not Found</body></html>", "text/html")
REFUSAL = answering(401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})
CHAT = answering(200, completion())


def at(routes: dict[str, Behaviour], otherwise: Behaviour = PAGE) -> Behaviour:
    """Behave by the whole path."""

    def behave(connection: socket.socket, request: bytes) -> None:
        routes.get(request.split(b" ", 2)[1].decode(), otherwise)(connection, request)

    return behave


def lane_of(server: Server, **changes: Any) -> LaneSpec:
    """The lane of a simulated server, as a person would have stored it."""
    known: dict[str, Any] = {"key": Masked(SITE_KEY), "egress": LOOPBACK, "rungs": (Rung.CHANNEL,)}
    return LaneSpec(**{"id": "lane", "base_url": server.base_url, "model": "qwen3-8b", **known, **changes})


def asked_of(server: LocalServer, base: str, **changes: Any) -> Outcome:
    return run(
        server.spec(base_url=f"http://127.0.0.1:{server.port}{base}", rungs=(Rung.CHANNEL,), **changes)
    )


def step_of(outcome: Outcome, name: str) -> Step:
    return next(step for step in outcome.steps if step.name == name)


def chats(server: LocalServer) -> list[str]:
    """The paths of the chat requests, in order."""
    return [sent.split(b" ", 2)[1].decode() for sent in server.seen if sent.startswith(b"POST")]


@pytest.mark.parametrize(
    ("family", "fault", "reason", "base"),
    [
        ("vllm", "no_version", Reason.BASE_URL_MISSING_V1, "/v1"),
        ("one-api", "no_version", Reason.BASE_URL_MISSING_V1, "/v1"),
        ("lmstudio", "no_version", Reason.BASE_URL_MISSING_V1, "/v1"),
        ("sglang", "double_version", Reason.BASE_URL_DOUBLE_V1, "/v1"),
        ("azure", "double_version", Reason.BASE_URL_DOUBLE_V1, "/openai/v1"),
        ("vendor", "full_endpoint", Reason.BASE_URL_FULL_ENDPOINT, "/v1"),
        ("new-api", "console_without_version", Reason.BASE_URL_HTML_PAGE, "/v1"),
    ],
)
def test_a_wrong_base_url_is_named_and_the_one_that_answers_is_offered(
    family: str, fault: str, reason: Reason, base: str
) -> None:
    with simulate(family, key=SITE_KEY, fault=fault) as server:
        outcome = run(lane_of(server))
        expected = server.origin + base
    assert (outcome.status, outcome.reason) == (Status.DOWN, reason)
    assert outcome.offered_base_url == expected
    assert step_of(outcome, "candidates").say["base_url"] == expected


def test_the_search_supports_and_the_chat_decides() -> None:
    with simulate("vllm", key=SITE_KEY, fault="no_version") as server:
        outcome = run(lane_of(server))
    assert [(step.name, step.status) for step in outcome.steps] == [
        ("models", Status.NOT_TESTABLE),
        ("chat", Status.DOWN),
        ("candidates", Status.OK),
    ]
    assert outcome.candidates == (Reason.BASE_URL_MISSING_V1,)


@pytest.mark.parametrize(("family", "fault"), [("vendor", "html_page"), ("nginx", "no_api")])
def test_where_no_neighbour_answers_nothing_is_offered(family: str, fault: str) -> None:
    with simulate(family, key=SITE_KEY, fault=fault) as server:
        outcome = run(lane_of(server))
    found = step_of(outcome, "candidates")
    assert (outcome.offered_base_url, found.status) == (None, Status.NOT_TESTABLE)
    assert found.say["tried"] == found.say["of"]


@pytest.mark.parametrize("fault", ["key_refused", "model_missing", "quota_empty", "overloaded", "reset"])
def test_other_failures_search_no_neighbours(fault: str) -> None:
    with simulate("vendor", key=SITE_KEY, fault=fault) as server:
        outcome = run(lane_of(server))
        paths = {seen.path for seen in server.requests}
    assert "candidates" not in {step.name for step in outcome.steps}
    assert paths == {"/v1/chat/completions", "/v1/models"}


def test_a_superfluous_version_is_a_wrong_path(serve: Serve) -> None:
    server = serve(at({"/api/chat/completions": CHAT}))
    outcome = asked_of(server, "/api/v1")
    assert outcome.reason is Reason.BASE_URL_WRONG_PATH
    assert outcome.offered_base_url == f"http://127.0.0.1:{server.port}/api"


def test_a_refusal_in_the_apis_words_names_the_path_too(serve: Serve) -> None:
    server = serve(at({"/v1/chat/completions": REFUSAL}))
    outcome = asked_of(server, "")
    assert outcome.reason is Reason.BASE_URL_MISSING_V1
    assert outcome.offered_base_url == f"http://127.0.0.1:{server.port}/v1"
    assert step_of(outcome, "candidates").say["answered"] == "401"


def test_refusals_from_several_neighbours_leave_the_path_open(serve: Serve) -> None:
    routes = dict.fromkeys(("/v1/chat/completions", "/chat/completions"), REFUSAL)
    outcome = asked_of(serve(at(routes)), "/v1/v1")
    assert outcome.offered_base_url is None
    assert step_of(outcome, "candidates").say["path"] == "open"


def test_a_page_from_a_neighbour_proves_nothing(serve: Serve) -> None:
    page = answering(200, "<!doctype html><html><div id=root></div></html>", "text/html")
    outcome = asked_of(serve(at({"/api/chat/completions": page})), "/api/v1")
    assert outcome.reason is not Reason.BASE_URL_DOUBLE_V1
    assert outcome.offered_base_url is None


def test_each_neighbour_is_asked_once_and_the_first_completion_ends_the_search(serve: Serve) -> None:
    server = serve(at({"/v1/chat/completions": CHAT, "/chat/completions": CHAT}))
    outcome = asked_of(server, "/v1/v1")
    assert chats(server) == ["/v1/v1/chat/completions", "/v1/chat/completions"]
    assert (outcome.tokens, step_of(outcome, "candidates").tokens) == (12, 12)


def test_a_budget_that_is_spent_ends_the_search(serve: Serve) -> None:
    costly = answering(404, {"detail": "Not Found", "usage": {}})
    refused_dearly = answering(200, {"error": "Unexpected endpoint", "usage": {"total_tokens": 300}})
    server = serve(at({"/chat/completions": refused_dearly}, costly))
    outcome = asked_of(server, "", token_budget=310)
    assert chats(server) == ["/chat/completions"]
    assert step_of(outcome, "candidates").say == {"tried": "0", "of": "1"}


def test_a_silent_neighbour_costs_no_more_than_the_deadline(serve: Serve) -> None:
    server = serve(at({"/v1/chat/completions": lambda connection, request: time.sleep(2)}))
    outcome = asked_of(server, "", deadline=1.0)
    assert (outcome.status, outcome.offered_base_url) == (Status.DOWN, None)
    assert outcome.duration_ms < 1900


def redirecting(location: str) -> Behaviour:
    return lambda connection, request: connection.sendall(head(301, 0, location=location))


def test_the_base_a_redirect_points_to_is_offered(serve: Serve) -> None:
    server = serve(at({"/old/chat/completions": redirecting("/new/v1/chat/completions"),
                       "/new/v1/chat/completions": CHAT}))  # fmt: skip
    outcome = asked_of(server, "/old")
    assert outcome.reason is Reason.REDIRECT_BROKEN
    assert outcome.offered_base_url == f"http://127.0.0.1:{server.port}/new/v1"


def test_another_port_of_the_host_is_asked_without_the_key(serve: Serve) -> None:
    other = serve(at({"/v1/chat/completions": CHAT}))
    server = serve(redirecting(f"http://127.0.0.1:{other.port}/v1/chat/completions"))
    outcome = asked_of(server, "/v1")
    assert outcome.offered_base_url == f"http://127.0.0.1:{other.port}/v1"
    assert len(other.seen) == 1
    assert KEY.encode() not in other.seen[0]


def test_a_redirect_to_another_host_is_never_followed(serve: Serve) -> None:
    other = serve(CHAT)
    server = serve(redirecting(f"http://localhost:{other.port}/v1/chat/completions"))
    outcome = asked_of(server, "/v1")
    assert (other.seen, outcome.offered_base_url) == ([], None)


def test_nothing_said_shows_the_key(serve: Serve) -> None:
    echo = answering(401, {"error": {"message": f"no {KEY}", "code": "invalid_api_key"}})
    outcome = asked_of(serve(at({"/v1/chat/completions": echo})), "")
    assert KEY not in repr(outcome) + json.dumps([dict(step.say) for step in outcome.steps])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("https://h.example", ["https://h.example/v1"]),
        ("https://h.example/v1", ["https://h.example"]),
        ("https://h.example/api/v3", []),
        ("https://h.example/v1/v1", ["https://h.example/v1", "https://h.example"]),
        ("https://h.example/v4/v4/x", ["https://h.example/v4/x", "https://h.example/v4/x/v1"]),
        ("https://h.example/v1/chat/completions", ["https://h.example/v1", "https://h.example"]),
        ("https://h.example/chat/completions", ["https://h.example", "https://h.example/v1"]),
    ],
)
def test_the_neighbours_of_a_base_url(given: str, expected: list[str]) -> None:
    assert [base for base in dict.fromkeys(neighbours(given)) if base != given] == expected


@pytest.mark.parametrize(
    "location",
    [
        "https://other.example/v1/chat/completions",
        "http://h.example/v1/chat/completions",
        "//other.example/v1/chat/completions",
        "https://h.example@other.example/v1/chat/completions",
        "https://h.example/login?next=/v1/chat/completions",
        "https://h.example/v1/chat/completions?x=1",
        "https://[h.example/v1/chat/completions",
        "https://h.example:99999/v1/chat/completions",
        "javascript:alert(1)//v1/chat/completions",
        "",
    ],
)
def test_a_location_elsewhere_or_unsafe_offers_nothing(location: str) -> None:
    assert location_base("https://h.example/v0/chat", location) is None


def test_a_location_may_give_up_plain_http_for_tls() -> None:
    target = "https://h.example/v1/chat/completions/"
    assert location_base("http://h.example:8080/v1/chat/completions", target) == "https://h.example/v1"
