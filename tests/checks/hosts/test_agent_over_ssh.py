"""Rung 4 over a real OpenSSH server: the same agents, the same verdicts, nothing left on the host."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import UTC, datetime
from time import monotonic

from checks import Reason, Rung, Status
from checks.ladder import climb
from checks.outcome import Step
from checks.probes.agent import agent
from checks.probes.asking import Ask
from checks.probes.grounds import Grounds
from checks.simulator import serve
from checks.spec import LaneSpec
from tests.checks.hosts.agents import KEY, PROJECT, spec_for
from tests.ssh import Sshd


def over_ssh(sshd: Sshd, name: str, *, key: str = KEY) -> tuple[dict[str, Step], list[str]]:
    """The steps by name, and what the agent printed."""
    printed: list[str] = []

    async def climbed(spec: LaneSpec) -> tuple[Step, ...]:
        grounds = Grounds(spec)
        heard = [lambda told: printed.append(told.output)]
        try:
            ask = Ask(spec, monotonic() + 60, datetime.now(UTC), None, heard[0], grounds)
            return (await agent(ask)).steps
        finally:
            await grounds.close()

    with serve("vllm", key=KEY) as server:
        spec = spec_for(server.base_url, name, key=key)
        spec = dataclasses.replace(spec, host=sshd.spec(workdir=PROJECT))
        return {step.name: step for step in asyncio.run(climbed(spec))}, printed


def test_an_agent_answers_on_the_host(sshd: Sshd) -> None:
    steps, _ = over_ssh(sshd, "agents:Rollout")
    assert [step.status for step in steps.values()] == [Status.OK] * 3
    assert {step.place for step in steps.values()} == {"host:gpu-1"}


def test_an_agent_that_swallows_401_on_the_host_is_down(sshd: Sshd) -> None:
    steps, printed = over_ssh(sshd, "agents:Swallowing", key="sk-wrong-0123456789abcdef")
    assert steps["agent_answer"].reason is Reason.AUTH_INVALID_KEY
    assert "Error during agent invocation" in "".join(printed)


def test_a_host_that_refuses_the_login_says_nothing_of_the_agent(sshd: Sshd) -> None:
    refused = dataclasses.replace(sshd, user="nobody-of-this-machine")
    steps, _ = over_ssh(refused, "agents:Honest")
    assert steps["agent_import"].status is Status.NOT_TESTABLE
    assert str(steps["agent_import"].reason).startswith("host_")


def test_a_key_that_an_agent_prints_is_masked(sshd: Sshd) -> None:
    printed: list[str] = []
    with serve("vllm", key=KEY) as server:
        spec = spec_for(server.base_url, "agents:Talkative")
        spec = dataclasses.replace(spec, host=sshd.spec(workdir=PROJECT), rungs=(Rung.AGENT,))
        outcome = asyncio.run(climb(spec, lambda told: printed.append(told.output)))
    assert (outcome.status, outcome.rung) == (Status.OK, Rung.AGENT)
    assert "using [masked]" in "".join(printed)
    assert KEY not in repr(outcome) + "".join(printed)
