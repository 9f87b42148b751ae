"""Hosts behind a jump host: the way through, and which of the two machines a reason names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network

import pytest

from checks import EgressPolicy
from checks.hosts import make_key_pair, offered_key, ssh_ground
from checks.reason import Reason
from checks.spec import HostSpec
from tests.checks.hosts.doors import lost
from tests.checks.hosts.test_session import RUN, a_command
from tests.ssh import Sshd, free_port, running_sshd


@pytest.fixture(scope="module")
def closed_jump(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """Run a server that passes no connection on."""
    with running_sshd(tmp_path_factory.mktemp("jump"), "AllowTcpForwarding no\n") as server:
        yield server


def behind(jump: HostSpec, sshd: Sshd) -> HostSpec:
    """The host gpu-1 behind the jump host "door"."""
    return sshd.spec(jump=replace(jump, name="door"))


def test_a_program_runs_behind_a_jump_host(sshd: Sshd) -> None:
    async def go() -> str:
        async with ssh_ground(behind(sshd.spec(), sshd), seconds=20.0) as ground:
            answer = await ground.run("command", a_command("echo", "far"), run=RUN, seconds=20.0)
            return str(answer["tail"])

    assert asyncio.run(go()) == "far\n"


def test_the_key_of_a_host_behind_a_jump_host_is_seen(sshd: Sshd) -> None:
    assert asyncio.run(offered_key(behind(sshd.spec(), sshd))) == sshd.host_key


@pytest.mark.parametrize("host_keys", [(), (make_key_pair().public,)], ids=["unknown", "changed"])
def test_a_jump_host_is_believed_no_more_than_a_host(sshd: Sshd, host_keys: tuple[str, ...]) -> None:
    told = asyncio.run(lost(behind(sshd.spec(host_keys=host_keys), sshd)))
    assert told.reason is (Reason.HOST_KEY_CHANGED if host_keys else Reason.HOST_KEY_UNKNOWN)
    assert told.say["host"] == "door"


def test_a_refusal_behind_the_jump_host_names_the_host(sshd: Sshd) -> None:
    spec = replace(behind(sshd.spec(), sshd), private_key=make_key_pair().private)
    told = asyncio.run(lost(spec))
    assert (told.reason, told.say["host"]) == (Reason.HOST_LOGIN_REFUSED, "gpu-1")


def test_a_jump_host_that_passes_nothing_on_is_named(sshd: Sshd, closed_jump: Sshd) -> None:
    told = asyncio.run(lost(behind(closed_jump.spec(), sshd)))
    assert told.reason is Reason.HOST_JUMP_REFUSED


def test_a_closed_port_behind_the_jump_host_is_a_refused_connection(sshd: Sshd) -> None:
    told = asyncio.run(lost(replace(behind(sshd.spec(), sshd), port=free_port())))
    assert told.reason is Reason.CONNECTION_REFUSED_LOOPBACK


def test_a_literal_address_behind_a_jump_host_is_judged_too(sshd: Sshd) -> None:
    elsewhere = EgressPolicy((ip_network("10.0.0.0/8"),))
    told = asyncio.run(lost(replace(behind(sshd.spec(), sshd), egress=elsewhere)))
    assert told.reason is Reason.EGRESS_DENIED
