"""The reference agent: several turns with a tool, played by the simulator and by servers that misbehave."""

from __future__ import annotations

import asyncio
import json
import socket
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import pytest

from checks import LaneKind, Masked, Reason, Status
from checks.outcome import Step
from checks.probes.agent import agent
from checks.probes.asking import Ask
from checks.probes.table import Table
from checks.simulator import serve as simulate
from checks.spec import LaneSpec
from tests.checks.conftest import Serve
from tests.checks.local import KEY, LOOPBACK, Behaviour, LocalServer, answering, completion

RIGHT = "Mei paid the most: 310 in total."


def asked(spec: LaneSpec) -> Step:
    found = asyncio.run(agent(Ask(spec, monotonic() + spec.deadline, datetime.now(UTC), spec.token_budget)))
    return found.steps[-1]


def simulated(fault: str | None = None, *, key: str = KEY, **changes: Any) -> Step:
    with simulate("vllm", key=KEY, fault=fault) as server:
        spec = LaneSpec("lane-1", server.base_url, "qwen3-8b", Masked(key), egress=LOOPBACK, **changes)
        return asked(spec)


def said(content: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    whole = {"role": "assistant", "content": content, **message}
    return completion(choices=[{"index": 0, "message": whole, "finish_reason": finish}])


def calling(arguments: str) -> dict[str, Any]:
    function = {"name": "run_sql", "arguments": arguments}
    return said(None, "tool_calls", tool_calls=[{"id": "c1", "type": "function", "function": function}])


def turns(*answers: dict[str, Any]) -> Behaviour:
    """Give these answers by the number of results that the talk holds; the last again and again."""

    def behave(connection: socket.socket, request: bytes) -> None:
        sent = json.loads(request.partition(b"\r\n\r\n")[2])["messages"]
        number = sum(one["role"] == "tool" for one in sent)
        answering(200, answers[min(number, len(answers) - 1)])(connection, request)

    return behave


SELECT = calling('{"query": "SELECT customer, SUM(amount) AS paid FROM orders GROUP BY customer"}')


def test_the_simulator_plays_the_whole_talk() -> None:
    step = simulated()
    assert (step.name, step.status, step.place) == ("agent_answer", Status.OK, "panel")
    assert (step.say["turns"], step.say["calls"], step.say["errors"]) == ("3", "2", "0")
    assert step.tokens > 0


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("parser_off", Reason.TOOL_PARSER_NOT_ENABLED),
        ("calls_as_text", Reason.TOOL_CALLS_UNPARSED),
        ("arguments_cut", Reason.TOOL_ARGS_INVALID_JSON),
    ],
)
def test_a_tool_that_cannot_be_called_is_down(fault: str, reason: Reason) -> None:
    step = simulated(fault)
    assert (step.status, step.reason) == (Status.DOWN, reason)


def test_a_refused_key_is_named() -> None:
    assert simulated(key="sk-wrong-0123456789").reason is Reason.AUTH_INVALID_KEY


def test_the_rows_go_back_without_anything_but_the_call(serve: Serve) -> None:
    server = serve(turns(SELECT, said(RIGHT)))
    assert asked(server.spec()).status is Status.OK
    sent = json.loads(server.seen[-1].partition(b"\r\n\r\n")[2])["messages"]
    assert [one["role"] for one in sent] == ["system", "user", "assistant", "tool"]
    assert {"customer": "Mei", "paid": 310} in json.loads(sent[-1]["content"])


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([said("Ada, 265.")], Reason.TOOL_NOT_CALLED),
        ([said(None, "length")], Reason.CONTENT_EMPTY_REASONING),
        ([SELECT, said("Ada paid 265.")], Reason.AGENT_WRONG_ANSWER),
        ([SELECT, said("")], Reason.AGENT_NO_ANSWER),
        ([SELECT], Reason.AGENT_NO_ANSWER),
    ],
)
def test_a_weak_model_is_degraded_alone(serve: Serve, answers: list[dict[str, Any]], reason: Reason) -> None:
    step = asked(serve(turns(*answers)).spec())
    assert (step.status, step.reason) == (Status.DEGRADED, reason)


def test_a_talk_without_end_is_left_after_six_turns(serve: Serve) -> None:
    server = serve(turns(SELECT))
    assert asked(server.spec()).say["turns"] == "6"
    assert len(server.seen) == 6


def test_a_faulty_query_is_told_to_the_model(serve: Serve) -> None:
    server = serve(turns(calling('{"query": "SELECT customer FROM nowhere"}'), said(RIGHT)))
    assert asked(server.spec()).say["errors"] == "1"
    assert b"Error: no such table" in server.seen[-1]


def test_what_the_purse_cannot_pay_is_not_asked(serve: Serve) -> None:
    server: LocalServer = serve(turns(SELECT, said(RIGHT)))
    step = asked(server.spec(token_budget=1285))
    assert (step.status, step.reason) == (Status.NOT_TESTABLE, Reason.BUDGET_SPENT)
    assert len(server.seen) == 1


@pytest.mark.parametrize("lane", [LaneKind.REPLAY, LaneKind.ROLLOUT])
def test_lanes_that_no_agent_calls_have_nothing_to_ask(serve: Serve, lane: LaneKind) -> None:
    server = serve(turns(SELECT))
    step = asked(server.spec(lane=lane))
    assert (step.status, step.reason, server.seen) == (Status.NOT_TESTABLE, None, [])


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM orders",
        "ATTACH '/tmp/x' AS x",
        "PRAGMA writable_schema = 1",
        "SELECT randomblob(1000000000)",
        "SELECT load_extension('x')",
        "SELECT 1; SELECT 2",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT SUM(i) FROM n",
        "SELECT '" + "x" * 3000 + "'",
        "SELECT \ud800",
    ],
)
def test_the_table_takes_nothing_but_one_small_select(query: str) -> None:
    with Table() as table:
        assert table.asked(query).startswith("Error")
        assert "Mei" in table.asked("SELECT * FROM orders")


def test_rows_are_capped() -> None:
    with Table() as table:
        assert len(json.loads(table.asked("SELECT a.id FROM orders a, orders b, orders c"))) == 50
