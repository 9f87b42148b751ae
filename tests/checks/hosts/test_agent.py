"""Rung 4 with a project of the team's: judged by its calls, its reward and its answer, never by its exit."""

from __future__ import annotations

import ast
import dataclasses
import socket
import time
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

import pytest

from checks import Reason, Status
from checks.outcome import Step, Told
from checks.simulator import serve
from checks.simulator.server import Server
from tests.checks.conftest import MadeCertificate, Serve
from tests.checks.hosts.agents import KEY, run_agent, spec_for
from tests.checks.hosts.commands import alive
from tests.checks.local import answering, completion, head

GOOD = ["agent_import", "agent_construct", "agent_answer"]


@pytest.fixture(scope="module")
def lane() -> Iterator[Server]:
    with serve("vllm", key=KEY) as server:
        yield server


def answered(lane: Server, name: str, **changes: Any) -> Step:
    return run_agent(spec_for(lane.base_url, f"agents:{name}", **changes))["agent_answer"]


@pytest.mark.parametrize("program", ["agent", "agent_child", "relay"])
def test_the_program_is_read_by_a_python_of_three_eight(program: str) -> None:
    text = (resources.files("checks.hosts.programs") / f"{program}.py").read_text()
    assert ast.parse(text, feature_version=(3, 8))


def test_an_honest_agent_passes_every_stage(lane: Server) -> None:
    steps = run_agent(spec_for(lane.base_url, "agents:Honest"))
    assert [(name, step.status) for name, step in steps.items()] == [(name, Status.OK) for name in GOOD]
    assert steps["agent_answer"].say["answer"] == "'All of it works.'"
    assert steps["agent_answer"].tokens > 0
    assert {step.place for step in steps.values()} == {"host:gpu-a11"}


@pytest.mark.parametrize("name", ["agents:asked", "agents.Honest", "agents.asked"])
def test_functions_and_dotted_names_are_agents_too(lane: Server, name: str) -> None:
    assert run_agent(spec_for(lane.base_url, name))["agent_answer"].status is Status.OK


def test_the_lane_gets_what_the_agent_sent_with_its_own_key(lane: Server) -> None:
    answered(lane, "Honest", question="How many?")
    seen = lane.requests[-1]
    assert (seen.path, seen.key) == ("/v1/chat/completions", "right")
    assert isinstance(seen.json, dict)
    assert seen.json["messages"][0]["content"] == "How many?"


def test_an_agent_that_swallows_a_refused_key_is_down_all_the_same(lane: Server) -> None:
    step = answered(lane, "Swallowing", key="sk-wrong-0123456789abcdef")
    assert (step.status, step.reason) == (Status.DOWN, Reason.AUTH_INVALID_KEY)
    assert (step.say["swallowed"], step.say["calls"], step.say["failed"]) == ("yes", "2", "2")


def test_an_agent_that_raises_a_refusal_is_down_for_the_same_reason(lane: Server) -> None:
    step = answered(lane, "Honest", key="sk-wrong-0123456789abcdef")
    assert (step.reason, step.say["swallowed"]) == (Reason.AUTH_INVALID_KEY, "no")


def test_an_agent_whose_first_call_failed_is_degraded(lane: Server) -> None:
    step = answered(lane, "Shaky")
    assert (step.status, step.reason) == (Status.DEGRADED, Reason.MODEL_NOT_FOUND)
    assert (step.say["calls"], step.say["failed"]) == ("2", "1")


def test_a_module_that_cannot_be_imported_is_named_with_its_last_frames(lane: Server) -> None:
    steps = run_agent(spec_for(lane.base_url, "broken:Agent"))
    assert steps["agent_import"].reason is Reason.AGENT_IMPORT_FAILED
    assert "no_such_package_of_ours" in steps["agent_import"].say["error"]
    assert "broken.py:3" in steps["agent_import"].say["frames"]
    assert steps["agent_answer"].status is Status.NOT_REACHED


@pytest.mark.parametrize("name", ["Demanding", "Missing"])
def test_a_class_that_cannot_be_built_without_arguments_is_named(lane: Server, name: str) -> None:
    steps = run_agent(spec_for(lane.base_url, f"agents:{name}"))
    assert steps["agent_import"].status is Status.OK
    assert steps["agent_construct"].reason is Reason.AGENT_CONSTRUCTION_FAILED


def test_an_agent_that_ignores_the_end_is_ended_with_its_child(lane: Server) -> None:
    told: list[str] = []

    def note(event: Told) -> None:
        told.append(event.output)

    steps = run_agent(spec_for(lane.base_url, "agents:Hanging", agent_deadline=2.0), heard=note)
    assert steps["agent_answer"].reason is Reason.AGENT_OVERRAN
    pids = [int(line.split()[1]) for line in "".join(told).splitlines() if line.startswith("hanging")]
    assert len(pids) == 2
    assert not any(alive(pid) for pid in pids)


def test_an_async_agent_of_one_x_passes_by_the_reward_it_posts(lane: Server) -> None:
    step = answered(lane, "Rollout")
    assert (step.status, step.say["reward"], step.say["way"]) == (Status.OK, "1.0", "run")


@pytest.mark.parametrize("name", ["Unrewarded", "Undefined"])
def test_an_agent_of_one_x_without_reward_is_degraded(lane: Server, name: str) -> None:
    step = answered(lane, name)
    assert (step.status, step.reason) == (Status.DEGRADED, Reason.REWARD_MISSING)


def test_an_agent_of_zero_x_gets_the_relay_as_a_resource_and_returns_its_reward(lane: Server) -> None:
    step = answered(lane, "Older")
    assert (step.status, step.say["reward"], step.say["calls"]) == (Status.OK, "0.5", "1")


@pytest.mark.parametrize("name", ["Elsewhere", "Mute", "Leaving"])
def test_an_agent_without_a_call_of_the_lane_gave_no_answer(lane: Server, name: str) -> None:
    step = answered(lane, name)
    assert (step.status, step.reason) == (Status.DOWN, Reason.AGENT_NO_ANSWER)
    assert step.say["calls"] == "0"
    assert f"OPENAI_BASE_URL={lane.base_url}" in step.say["base_urls"]


def test_a_lane_that_is_gone_is_named_as_what_it_is() -> None:
    with serve("vllm") as server:
        base_url = server.base_url
    step = run_agent(spec_for(base_url, "agents:Swallowing"))["agent_answer"]
    assert step.reason is Reason.CONNECTION_REFUSED_LOOPBACK


def test_a_stream_reaches_the_agent_piece_by_piece(serve: Serve) -> None:
    def slowly(connection: socket.socket, request: bytes) -> None:
        connection.sendall(head(200, None, "text/event-stream") + b'data: {"choices":[{"delta":{}}]}\n\n')
        time.sleep(1.0)
        connection.sendall(b"data: [DONE]\n\n")

    step = run_agent(spec_for(serve(slowly).base_url, "streaming:Streaming"))["agent_answer"]
    assert step.status is Status.OK
    assert float(step.say["answer"]) < 0.9


def test_an_agent_that_loops_is_refused_further_calls(lane: Server) -> None:
    step = answered(lane, "Looping")
    assert (step.say["calls"], step.say["over"]) == ("200", "1")


def test_the_relay_trusts_the_private_authority_of_the_lane(
    serve: Serve, make_certificate: Callable[..., MadeCertificate]
) -> None:
    made = make_certificate()
    server = serve(answering(200, completion()), tls=made.context)
    spec = spec_for(server.base_url, "agents:Honest")
    assert run_agent(spec)["agent_answer"].reason is Reason.TLS_UNTRUSTED_CA
    trusting = dataclasses.replace(spec, ca_file=str(made.path))
    assert run_agent(trusting)["agent_answer"].status is Status.OK


def test_the_project_may_need_a_line_that_prepares_its_shell(lane: Server) -> None:
    step = answered(lane, "Honest", activate="export PATH=$PATH:/nowhere")
    assert step.status is Status.OK


def test_a_line_that_fails_to_prepare_the_shell_breaks_the_import(lane: Server) -> None:
    steps = run_agent(spec_for(lane.base_url, "agents:Honest", activate="source /no/such/environment"))
    assert steps["agent_import"].reason is Reason.AGENT_IMPORT_FAILED
    assert "/no/such/environment" in steps["agent_import"].say["printed"]


def test_a_folder_that_is_not_there_breaks_the_import(lane: Server) -> None:
    steps = run_agent(spec_for(lane.base_url, "agents:Honest", workdir="/no/such/folder"))
    assert steps["agent_import"].reason is Reason.AGENT_IMPORT_FAILED
    assert "/no/such/folder" in steps["agent_import"].say["error"]


def test_an_empty_purse_asks_nothing(lane: Server) -> None:
    spec = dataclasses.replace(spec_for(lane.base_url, "agents:Honest"), token_budget=10)
    step = run_agent(spec)["agent_answer"]
    assert (step.status, step.reason) == (Status.NOT_TESTABLE, Reason.BUDGET_SPENT)


def test_an_answer_of_200_that_is_no_completion_does_not_pass(serve: Serve) -> None:
    page = answering(200, "<!doctype html><html><title>Console</title></html>", "text/html")
    step = run_agent(spec_for(serve(page).base_url, "agents:Swallowing"))["agent_answer"]
    assert (step.status, step.reason) == (Status.DOWN, Reason.BASE_URL_HTML_PAGE)


def test_an_agent_that_returns_an_empty_answer_is_down(serve: Serve) -> None:
    message = {"role": "assistant", "content": ""}
    silent = answering(200, completion(choices=[{"index": 0, "message": message, "finish_reason": "stop"}]))
    step = run_agent(spec_for(serve(silent).base_url, "agents:Honest"))["agent_answer"]
    assert (step.status, step.reason) == (Status.DOWN, Reason.AGENT_NO_ANSWER)
