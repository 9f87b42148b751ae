"""A silent engine: asleep, stuck or slow; and a chat that fails once and then passes."""

from __future__ import annotations

import itertools
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pytest

from checks import EndpointKind, LaneSpec, Masked, Outcome, Reason, Rung, Status, Step, run, run_many
from checks.simulator import serve as simulate
from tests.checks.conftest import Serve
from tests.checks.local import (
    KEY,
    LOOPBACK,
    MODEL,
    Behaviour,
    LocalServer,
    answering,
    completion,
    model_list,
    serving,
)

CHANNEL = (Rung.CHANNEL,)
NOT_THERE = answering(404, {"detail": "Not Found"})


def silent(connection: socket.socket, request: bytes) -> None:
    time.sleep(8)


def metrics(tokens: float, *, running: int = 0, prefix: str = "vllm:", extra: str = "") -> Behaviour:
    names = ("num_requests_running", "generation_tokens_total")
    if prefix == "sglang:":
        names = ("num_running_reqs", "generation_tokens_total")
    lines = [f'{prefix}{names[0]}{{engine="0"}} {running}.0', f'{prefix}{names[1]}{{engine="0"}} {tokens}']
    return answering(200, "\n".join([*lines, extra, ""]), "text/plain")


def counting(*tokens: float, running: int = 1) -> Behaviour:
    """Metrics that show these counts, one after another, and then the last."""
    shown = itertools.chain(tokens, itertools.repeat(tokens[-1]))
    return lambda connection, request: metrics(next(shown), running=running)(connection, request)


def engine(**pages: Behaviour) -> Behaviour:
    """A server that is alive, lists its model and says nothing to a chat; other pages as told."""
    known = {"completions": silent, "models": answering(200, model_list(MODEL)), "health": answering(200, "")}
    routes = {**known, **pages}

    def behave(connection: socket.socket, request: bytes) -> None:
        routes.get(request.split(b" ", 2)[1].rpartition(b"/")[2].decode(), NOT_THERE)(connection, request)

    return behave


ASLEEP_BY_METRIC = 'vllm:engine_sleep_state{engine="0",sleep_state="awake"} 0.0'
ONE_AWAKE = "\n".join(f'vllm:engine_sleep_state{{engine="{n}",sleep_state="awake"}} {n}.0' for n in (0, 1))
AWAKE_BY_METRIC = 'vllm:engine_sleep_state{engine="0",sleep_state="awake"} 1.0'
BOTH = {
    "is_sleeping": answering(200, {"is_sleeping": True}),
    "is_paused": answering(200, {"is_paused": True}),
}
OWNED = answering(200, {"data": [{"id": MODEL, "owned_by": "vllm"}]})
VLLM, SGLANG = EndpointKind.VLLM, EndpointKind.SGLANG
OPENAI, LITELLM = EndpointKind.OPENAI, EndpointKind.LITELLM
PAGES = ("metrics", "health", "is_sleeping", "is_paused")
NOT_A_NUMBER = answering(200, "vllm:x{ 1\nvllm:generation_tokens_total NaN")

SILENT: dict[str, tuple[EndpointKind, dict[str, Behaviour]]] = {
    "asleep by its page": (VLLM, {"is_sleeping": answering(200, {"is_sleeping": True})}),
    "paused by its page": (VLLM, {"is_paused": answering(200, {"is_paused": True})}),
    "asleep by a metric": (VLLM, {"metrics": metrics(7, extra=ASLEEP_BY_METRIC)}),
    "paused, called both": (VLLM, {**BOTH, "metrics": metrics(7, extra=AWAKE_BY_METRIC)}),
    "asleep, called both": (VLLM, {**BOTH, "metrics": metrics(7, extra=ASLEEP_BY_METRIC)}),
    "one engine awake": (VLLM, {"metrics": metrics(7, running=1, extra=ONE_AWAKE)}),
    "still": (VLLM, {"metrics": metrics(7)}),
    "still sglang": (SGLANG, {"metrics": metrics(9, running=2, prefix="sglang:")}),
    "moving": (VLLM, {"metrics": counting(7, 8)}),
    "tells nothing": (VLLM, {}),
    "odd metrics": (VLLM, {"metrics": NOT_A_NUMBER}),
    "no metrics at all": (VLLM, {"metrics": answering(200, "{}" * 1000)}),
    "restarted": (VLLM, {"metrics": counting(9, 3)}),
    "neither alive nor listed": (VLLM, {"metrics": metrics(7), "health": NOT_THERE, "models": NOT_THERE}),
    "silent everywhere": (VLLM, dict.fromkeys(PAGES, silent)),
    "odd pages": (
        VLLM,
        {"is_sleeping": answering(200, ["yes"]), "is_paused": answering(200, {"is_paused": 1})},
    ),
    "known by its list": (OPENAI, {"models": OWNED, "metrics": metrics(7, running=1)}),
    "idle, known by its list": (OPENAI, {"models": OWNED, "metrics": metrics(7)}),
    "another kind": (LITELLM, {"metrics": metrics(7, running=1)}),
}
SIMULATED = ("asleep", "wedged", "crawling", "hang")


@dataclass
class Met:
    """What came of a silent server, and what it was asked."""

    outcome: Outcome
    seen: list[bytes]


@pytest.fixture(scope="module")
def met() -> dict[str, Met]:
    """All silent servers, met at the same time, since each costs its deadline; these end one after
    another, so that on a busy machine not all are looked into at once."""
    with ExitStack() as servers:
        local = {name: servers.enter_context(serving(engine(**pages))) for name, (_, pages) in SILENT.items()}
        played = [servers.enter_context(simulate("vllm", key=KEY, fault=fault)) for fault in SIMULATED]
        specs = [lane(server.base_url, name, SILENT[name][0], MODEL) for name, server in local.items()]
        specs += [lane(server.base_url, str(server.fault), VLLM, "qwen3-8b") for server in played]
        specs = [replace(spec, deadline=4.5 + 0.1 * number) for number, spec in enumerate(specs)]
        outcomes = {outcome.spec_id: outcome for outcome in run_many(specs)}
    return {
        name: Met(outcome, local[name].seen if name in local else []) for name, outcome in outcomes.items()
    }


def lane(base_url: str, name: str, kind: EndpointKind, model: str) -> LaneSpec:
    return LaneSpec(name, base_url, model, Masked(KEY), kind=kind, rungs=CHANNEL, egress=LOOPBACK)


def step_of(outcome: Outcome, name: str) -> Step:
    return next(step for step in outcome.steps if step.name == name)


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        ("asleep", Status.NOT_TESTABLE, Reason.ENGINE_ASLEEP),
        ("wedged", Status.DOWN, Reason.ENGINE_WEDGED),
        ("crawling", Status.DOWN, Reason.REQUEST_TIMEOUT),
        ("hang", Status.DOWN, Reason.REQUEST_TIMEOUT),
    ],
)
def test_asleep_stuck_and_slow_are_told_apart(
    met: dict[str, Met], fault: str, status: Status, reason: Reason
) -> None:
    outcome = met[fault].outcome
    assert (outcome.status, outcome.rung, outcome.reason) == (status, Rung.CHANNEL, reason)


@pytest.mark.parametrize("name", ["asleep by its page", "paused by its page", "asleep by a metric"])
def test_each_sign_of_sleep_is_read(met: dict[str, Met], name: str) -> None:
    outcome = met[name].outcome
    assert (outcome.status, outcome.reason) == (Status.NOT_TESTABLE, Reason.ENGINE_ASLEEP)


@pytest.mark.parametrize(
    ("name", "state"), [("paused, called both", "paused"), ("asleep, called both", "asleep")]
)
def test_a_gauge_tells_paused_from_asleep_where_both_pages_say_yes(
    met: dict[str, Met], name: str, state: str
) -> None:
    assert step_of(met[name].outcome, "wedge").say["engine"] == state


@pytest.mark.parametrize("name", ["still", "still sglang", "one engine awake", "known by its list"])
def test_counters_that_stand_still_are_a_stuck_engine(met: dict[str, Met], name: str) -> None:
    outcome = met[name].outcome
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.ENGINE_WEDGED)
    assert outcome.candidates == (Reason.ENGINE_WEDGED, Reason.REQUEST_TIMEOUT)


def test_what_was_counted_is_said(met: dict[str, Met]) -> None:
    say = step_of(met["still"].outcome, "wedge").say
    assert say == {"engine": "frozen", "running": "0", "tokens": "7"}


def test_counters_that_move_are_a_slow_engine(met: dict[str, Met]) -> None:
    outcome = met["moving"].outcome
    assert (outcome.reason, step_of(outcome, "wedge").say["engine"]) == (Reason.REQUEST_TIMEOUT, "generating")


@pytest.mark.parametrize(
    "name",
    [
        "tells nothing",
        "odd metrics",
        "no metrics at all",
        "restarted",
        "neither alive nor listed",
        "silent everywhere",
        "odd pages",
        "idle, known by its list",
    ],
)
def test_a_server_that_tells_nothing_sure_is_only_silent(met: dict[str, Met], name: str) -> None:
    outcome = met[name].outcome
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.REQUEST_TIMEOUT)
    assert step_of(outcome, "wedge").say["engine"] == "unknown"


def test_another_kind_of_server_is_not_looked_into(met: dict[str, Met]) -> None:
    found = met["another kind"]
    assert found.outcome.reason is Reason.REQUEST_TIMEOUT
    assert {sent.split(b" ", 2)[1] for sent in found.seen} == {b"/v1/chat/completions", b"/v1/models"}


@pytest.mark.parametrize("name", ["still", "known by its list", "asleep by its page"])
def test_the_pages_are_asked_without_the_key(met: dict[str, Met], name: str) -> None:
    looked = [sent for sent in met[name].seen if b"/v1/" not in sent.split(b"\r\n", 1)[0]]
    assert looked
    assert not any(KEY.encode() in sent for sent in looked)


def test_looking_keeps_to_the_deadline(met: dict[str, Met]) -> None:
    assert max(found.outcome.duration_ms for found in met.values()) < 8600


def climb(server: LocalServer) -> Outcome:
    return run(server.spec(kind=VLLM, rungs=CHANNEL, deadline=1.5))


def test_an_answer_in_time_is_not_watched(serve: Serve) -> None:
    server = serve(engine(completions=answering(200, completion())))
    assert climb(server).status is Status.OK
    assert len(server.seen) == 1


def test_an_answer_that_comes_late_and_in_time_passes(serve: Serve) -> None:
    def late(connection: socket.socket, request: bytes) -> None:
        time.sleep(0.6)
        answering(200, completion())(connection, request)

    outcome = climb(serve(engine(completions=late, metrics=silent)))
    assert (outcome.status, [step.name for step in outcome.steps]) == (Status.OK, ["chat"])


def alternating(*behaviours: Behaviour) -> Behaviour:
    turns = itertools.cycle(behaviours)
    routes = {b"POST": lambda *given: next(turns)(*given), b"GET": NOT_THERE}
    return lambda connection, request: routes[request.split(b" ", 1)[0]](connection, request)


BUSY = answering(503, {"error": {"message": "The server is overloaded.", "type": "service_unavailable"}})
CHAT = answering(200, completion())
PASSING: list[Behaviour] = [
    BUSY,
    answering(429, {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}),
    answering(502, "<html><center>502 Bad Gateway</center><hr>nginx</html>", "text/html"),
    lambda connection, request: None,
]


@pytest.mark.parametrize("failing", PASSING)
def test_a_chat_that_fails_once_and_passes_is_flapping(serve: Serve, failing: Behaviour) -> None:
    outcome = run(serve(alternating(failing, CHAT)).spec(rungs=CHANNEL, repeat=True))
    assert (outcome.status, outcome.tokens) == (Status.DEGRADED, 12)
    assert outcome.reason is not None
    assert step_of(outcome, "chat").say["flapping"] == "1 of 2"
    assert outcome.latency_ms is not None


def test_a_chat_that_fails_twice_stays_down(serve: Serve) -> None:
    outcome = run(serve(alternating(BUSY)).spec(rungs=CHANNEL, repeat=True))
    assert (outcome.status, outcome.reason) == (Status.DOWN, Reason.UPSTREAM_OVERLOADED)
    assert step_of(outcome, "chat").say["repeated"] == "2 of 2"


@pytest.mark.parametrize(
    ("failing", "repeat"),
    [(BUSY, False), (answering(401, {"error": {"code": "invalid_api_key", "message": "no"}}), True)],
)
def test_nothing_is_repeated_unasked_or_in_vain(serve: Serve, failing: Behaviour, repeat: bool) -> None:
    server = serve(alternating(failing, CHAT))
    assert run(server.spec(rungs=CHANNEL, repeat=repeat)).status is Status.DOWN
    assert sum(sent.startswith(b"POST") for sent in server.seen) == 1
