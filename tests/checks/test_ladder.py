"""The climb: where it stops, what it spends, what it hides, and that it never raises."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from checks import LaneSpec, Masked, Outcome, Reason, Rung, Status, climb, run
from checks.probes import PROBES
from tests.checks.conftest import MadeCertificate, Serve
from tests.checks.local import HEALTHY, KEY, LOOPBACK, Behaviour, answering, by_path, completion, head

EVERY_RUNG = tuple(Rung)


def statuses(outcome: Outcome) -> list[tuple[int, str, str]]:
    return [(int(step.rung), step.name, step.status.value) for step in outcome.steps]


def test_both_rungs_pass_from_the_bottom_up(serve: Serve) -> None:
    outcome = run(serve(HEALTHY).spec(rungs=(Rung.CHANNEL, Rung.NETWORK)))
    assert [name for _, name, _ in statuses(outcome)] == ["resolve", "connect", "chat"]
    assert (outcome.status, outcome.rung, outcome.reason) == (Status.OK, Rung.CHANNEL, None)
    assert (outcome.spec_id, outcome.tokens) == ("lane-1", 12)


def test_the_start_is_an_aware_time_and_the_duration_covers_the_climb(serve: Serve) -> None:
    before = datetime.now(UTC)
    outcome = run(serve(HEALTHY).spec())
    assert before <= outcome.started <= datetime.now(UTC)
    assert outcome.latency_ms is not None
    assert outcome.duration_ms >= outcome.latency_ms


def test_a_broken_rung_ends_the_climb() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    outcome = run(LaneSpec("a", f"http://127.0.0.1:{port}/v1", "m", rungs=EVERY_RUNG, egress=LOOPBACK))
    assert (outcome.status, outcome.rung) == (Status.DOWN, Rung.NETWORK)
    assert statuses(outcome)[2:] == [
        (2, "chat", "not_reached"),
        (3, "sdk", "not_reached"),
        (4, "agent", "not_reached"),
        (5, "rollout", "not_reached"),
    ]


def test_rungs_that_no_probe_climbs_are_not_testable(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for rung in (Rung.SDK, Rung.AGENT, Rung.ROLLOUT):
        monkeypatch.delitem(PROBES, rung, raising=False)
    outcome = run(serve(HEALTHY).spec(rungs=EVERY_RUNG))
    assert statuses(outcome)[-3:] == [
        (3, "sdk", "not_testable"),
        (4, "agent", "not_testable"),
        (5, "rollout", "not_testable"),
    ]
    assert (outcome.status, outcome.rung) == (Status.OK, Rung.CHANNEL)


def test_nothing_but_rungs_without_a_question_is_no_pass(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(PROBES, Rung.SDK, raising=False)
    outcome = run(serve(HEALTHY).spec(rungs=(Rung.SDK,)))
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, None)


def test_no_rungs_are_no_pass() -> None:
    assert run(LaneSpec("a", "http://127.0.0.1:1/v1", "m", rungs=())).status is Status.NOT_TESTABLE


@pytest.mark.parametrize("budget", [0, 255, -3])
def test_a_spent_budget_keeps_the_network_rung_and_asks_no_chat(serve: Serve, budget: int) -> None:
    server = serve(HEALTHY)
    outcome = run(server.spec(token_budget=budget))
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.BUDGET_SPENT)
    assert statuses(outcome)[:2] == [(1, "resolve", "ok"), (1, "connect", "ok")]
    assert not any(sent.startswith(b"POST") for sent in server.seen)


def test_a_budget_that_suffices_is_no_obstacle(serve: Serve) -> None:
    assert run(serve(HEALTHY).spec(token_budget=256)).status is Status.OK


def test_a_slow_pass_is_degraded(serve: Serve) -> None:
    def slow(connection: socket.socket, request: bytes) -> None:
        time.sleep(0.15)
        HEALTHY(connection, request)

    outcome = run(serve(slow).spec(latency_limit_ms=100))
    assert (outcome.status, outcome.rung) == (Status.DEGRADED, Rung.CHANNEL)
    assert outcome.reason is Reason.LATENCY_OVER_LIMIT
    assert outcome.steps[-1].say["limit_ms"] == "100"


def test_a_pass_within_the_limit_is_ok(serve: Serve) -> None:
    assert run(serve(HEALTHY).spec(latency_limit_ms=5000)).status is Status.OK


def test_a_fault_of_our_own_is_an_outcome_and_not_down(serve: Serve) -> None:
    spec = replace(serve(HEALTHY).spec(), base_url=KEY.encode())  # type: ignore[arg-type]  # the fault
    outcome = run(spec)
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.ENGINE_FAULT)
    assert KEY not in repr(outcome)


def test_a_climb_runs_in_the_callers_own_loop(serve: Serve) -> None:
    assert asyncio.run(climb(serve(HEALTHY).spec())).status is Status.OK


def test_cancelling_a_climb_cancels_it(serve: Serve) -> None:
    server = serve(lambda connection, request: time.sleep(1))

    async def give_up() -> None:
        async with asyncio.timeout(0.2):
            await climb(server.spec())

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())


def echo(connection: socket.socket, request: bytes) -> None:
    """Answer with the whole request in every form a server may write it."""
    text = request.decode("latin-1")
    forms = [text, quote(text, safe=""), base64.b64encode(request).decode(), KEY[:20], KEY[4:]]
    body = json.dumps({"error": {"message": " ".join(forms), "code": "invalid_api_key"}}).encode()
    bearer = f"Bearer {KEY}"
    connection.sendall(
        head(401, len(body), x_echo=bearer, www_authenticate=bearer, location=f"/?key={KEY}") + body
    )


def echo_in_a_pass(connection: socket.socket, request: bytes) -> None:
    answering(200, completion(model=KEY, id=KEY), x_echo=KEY)(connection, request)


def echo_in_garbage(connection: socket.socket, request: bytes) -> None:
    connection.sendall(f"{KEY} is not HTTP\r\n\r\n".encode())


def echo_in_model_ids(connection: socket.socket, request: bytes) -> None:
    body = {"data": [{"id": KEY}], "detail": KEY}
    answering(404 if request.startswith(b"POST") else 200, body)(connection, request)


def cut_in_the_key(connection: socket.socket, request: bytes) -> None:
    connection.sendall(head(500, 500) + f'{{"error": "{KEY[:-1]}'.encode())


CANARY_FAULTS: list[Behaviour] = [
    echo,
    echo_in_a_pass,
    echo_in_garbage,
    echo_in_model_ids,
    cut_in_the_key,
    answering(401, f"bad key {KEY}", "text/plain"),
    answering(200, f"<html><body>{KEY}</body></html>", "text/html"),
    answering(307, "", location=f"http://u:{KEY}@169.254.169.254/{KEY}"),
    answering(200, {"error": {"message": f"Illegal header value b'Bearer {KEY}'"}}),
    lambda connection, request: None,
    by_path(models=echo, completions=echo_in_model_ids),
]


def test_text_from_upstream_can_be_stored_and_encoded(serve: Serve) -> None:
    odd = "\0\ud800\x1b"
    body = {"error": {"message": odd, "code": odd}, "data": [{"id": odd}]}
    said = everything_said(run(serve(answering(404, body)).spec(key=Masked(f"{KEY}\ud800"))))
    said.encode()
    assert not any(character in said for character in odd)


def everything_said(outcome: Outcome) -> str:
    said: dict[str, Any] = asdict(outcome)
    return repr(outcome) + str(said) + json.dumps(said, default=str) + json.dumps(said, default=repr)


@pytest.mark.parametrize("behaviour", CANARY_FAULTS)
def test_the_key_is_nowhere_in_an_outcome(serve: Serve, behaviour: Behaviour) -> None:
    server = serve(behaviour)
    outcome = run(server.spec())
    assert any(KEY.encode() in sent for sent in server.seen), "the canary must have been sent"
    said = everything_said(outcome)
    assert KEY not in said
    assert KEY[3:16] not in said
    assert base64.b64encode(f"Bearer {KEY}".encode()).decode()[:24] not in said


def test_the_key_is_nowhere_when_tls_is_refused(
    serve: Serve, make_certificate: Callable[..., MadeCertificate]
) -> None:
    server = serve(HEALTHY, tls=make_certificate().context)
    assert KEY not in everything_said(run(server.spec(rungs=(Rung.CHANNEL,))))


@pytest.mark.parametrize("bad", ["\n", "\x00", "’"])
def test_a_key_that_cannot_be_sent_is_named_and_not_shown(serve: Serve, bad: str) -> None:
    outcome = run(serve(HEALTHY).spec(key=Masked(KEY + bad)))
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.AUTH_KEY_MALFORMED)
    assert KEY not in everything_said(outcome)
