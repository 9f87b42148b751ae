"""The way in: whose key is believed, who is let in, and what each closed door is called."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncssh
import pytest

from checks import EgressPolicy, Masked
from checks.hosts import fingerprint_of, make_key_pair, offered_key
from checks.reason import Reason
from tests.checks.hosts.doors import answering_logins, host, lost, speaking
from tests.ssh import Sshd, free_port, make_key, running_sshd


def test_the_key_that_a_host_shows_is_the_one_of_its_own_tools(sshd: Sshd) -> None:
    line = asyncio.run(offered_key(sshd.spec(host_keys=(), private_key=None)))
    assert line == sshd.host_key


def test_looking_at_a_key_logs_nobody_in(sshd: Sshd) -> None:
    before = (sshd.folder / "log").read_text().count("Accepted publickey")
    asyncio.run(offered_key(sshd.spec()))
    assert (sshd.folder / "log").read_text().count("Accepted publickey") == before


def test_a_host_without_an_accepted_key_is_not_logged_in_to(sshd: Sshd) -> None:
    told = asyncio.run(lost(sshd.spec(host_keys=())))
    assert told.reason is Reason.HOST_KEY_UNKNOWN
    assert told.say["offered"] == fingerprint_of(sshd.host_key)


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_a_changed_host_key_blocks_the_login(sshd: Sshd, tmp_path: Path, kind: str) -> None:
    accepted = make_key(tmp_path / "other", kind)
    told = asyncio.run(lost(sshd.spec(host_keys=(accepted,))))
    assert told.reason is Reason.HOST_KEY_CHANGED
    assert told.say["accepted"] == fingerprint_of(accepted)
    assert told.say["offered"] == fingerprint_of(sshd.host_key)


def test_a_host_with_several_keys_shows_the_accepted_one(tmp_path: Path) -> None:
    accepted = make_key(tmp_path / "rsa", "rsa")
    with running_sshd(tmp_path, f"HostKey {tmp_path}/rsa\n") as sshd:
        told = asyncio.run(lost(sshd.spec(host_keys=(accepted,), python="/no/python3")))
    assert told.reason is Reason.HOST_PYTHON_MISSING


def test_a_key_that_the_host_does_not_know_is_refused(sshd: Sshd) -> None:
    pair = make_key_pair()
    told = asyncio.run(lost(sshd.spec(private_key=pair.private)))
    assert told.reason is Reason.HOST_LOGIN_REFUSED
    assert (told.say["user"], told.say["fingerprint"]) == (sshd.user, fingerprint_of(pair.public))


def test_a_broken_private_key_is_a_refused_login_and_is_shown_nowhere(sshd: Sshd) -> None:
    body = sshd.key.splitlines()[1]
    told = asyncio.run(lost(sshd.spec(private_key=Masked(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}"))))
    assert told.reason is Reason.HOST_LOGIN_REFUSED
    assert body not in "".join(traceback.format_exception(told)) + repr(told.say)


def test_a_host_that_says_nothing_is_silent() -> None:
    async def go() -> Reason:
        async with speaking(lambda reader, _: reader.read()) as port:  # type: ignore[arg-type, return-value]
            return (await lost(host(port), seconds=0.5)).reason

    assert asyncio.run(go()) is Reason.HOST_SILENT


def test_a_host_that_stalls_at_the_login_is_silent() -> None:
    async def never(*_: object) -> bool:
        await asyncio.sleep(30)
        return False

    class Slow(asyncssh.SSHServer):
        begin_auth = never  # type: ignore[assignment]

    async def go() -> Reason:
        async with answering_logins(lambda _: asyncio.sleep(0), server_factory=Slow) as port:
            return (await lost(host(port), seconds=1.0)).reason

    assert asyncio.run(go()) is Reason.HOST_SILENT


def test_a_web_server_is_named_as_no_ssh_server() -> None:
    async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    async def go() -> tuple[Reason, str]:
        async with speaking(http) as port:
            told = await lost(host(port))
            return told.reason, told.say["said"]

    assert asyncio.run(go()) == (Reason.HOST_NOT_SSH, "HTTP/1.1 400 Bad Request Content-Length: 0")


def test_an_endless_greeting_is_no_ssh_server() -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"welcome to the machine\r\n" * 1000)
            await writer.drain()

    async def go() -> Reason:
        async with speaking(babble) as port:
            return (await lost(host(port))).reason

    assert asyncio.run(go()) is Reason.HOST_NOT_SSH


@pytest.mark.parametrize("words", [b"", b"Exceeded MaxStartups\r\n", b"SSH-2.0-OpenSSH_9.2\r\n"])
def test_a_host_that_hangs_up_on_the_caller_broke_off(words: bytes) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(words)

    async def go() -> Reason:
        async with speaking(hang_up) as port:
            return (await lost(host(port))).reason

    assert asyncio.run(go()) is Reason.HOST_DISCONNECTED


def test_a_host_of_outdated_algorithms_alone_is_not_usable() -> None:
    async def go() -> Reason:
        old = {"kex_algs": ["diffie-hellman-group1-sha1"]}
        async with answering_logins(lambda _: asyncio.sleep(0), **old) as port:
            return (await lost(host(port))).reason

    assert asyncio.run(go()) is Reason.HOST_NOT_SSH


def test_an_address_outside_the_policy_is_never_called(sshd: Sshd) -> None:
    told = asyncio.run(lost(sshd.spec(egress=EgressPolicy())))
    assert told.reason is Reason.EGRESS_DENIED


def test_a_closed_port_is_a_refused_connection() -> None:
    assert asyncio.run(lost(host(free_port()))).reason is Reason.CONNECTION_REFUSED_LOOPBACK


def test_a_name_that_nobody_has_is_not_found() -> None:
    told = asyncio.run(lost(host(22, address="gpu-7.invalid")))
    assert told.reason in (Reason.DNS_NXDOMAIN, Reason.DNS_RESOLVER_UNAVAILABLE)


@contextmanager
def holding_agent(at: Path, key: Path) -> Iterator[None]:
    """Run an agent that holds the key which the host would take."""
    with subprocess.Popen(["ssh-agent", "-D", "-a", at], stdout=subprocess.DEVNULL) as agent:
        surroundings = os.environ | {"SSH_AUTH_SOCK": str(at)}
        while not at.exists():
            time.sleep(0.01)
        subprocess.run(["ssh-add", "-q", key], env=surroundings, check=True)
        yield
        agent.terminate()


def test_neither_agent_nor_files_of_the_account_are_used(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / ".ssh"
    trap.mkdir()
    (trap / "config").write_text("Host *\n  User nobody\n  ProxyCommand false\n")
    (trap / "known_hosts").write_text(f"[127.0.0.1]:{sshd.port} {sshd.host_key}\n")
    (trap / "id_ed25519").write_text(sshd.key)
    monkeypatch.setenv("HOME", str(tmp_path))
    with holding_agent(tmp_path / "agent", sshd.folder / "key"):
        monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
        told = asyncio.run(lost(sshd.spec(private_key=make_key_pair().private)))
    assert told.reason is Reason.HOST_LOGIN_REFUSED
