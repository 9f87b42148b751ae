"""The way in: a judged address, a believed host key, one login key; each refusal has its reason."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from typing import Any, Final

import asyncssh

from checks.egress import judge, open_socket
from checks.hostnames import ip_of
from checks.hosts.fingerprint import fingerprint_of
from checks.hosts.ground import GroundLost
from checks.hosts.trust import HOST_KEY_ALGORITHMS, Witness, algorithms_for, line_of, pinned
from checks.outcome import Evidence, Failure, FailureKind, Phase
from checks.reason import Reason
from checks.spec import HostSpec
from checks.verdict import classify

CONNECT_SECONDS: Final = 8.0  # for name and TCP connection
LOGIN_SECONDS: Final = 15.0  # from the first byte to the end of the login, of each machine on the way
HANG_UP_SECONDS: Final = 2.0
LOOK_SECONDS: Final = 3.0  # for the first words of what may be no SSH server
KEEPALIVE_SECONDS: Final = 10.0
KEEPALIVES_MISSED: Final = 3
SHOWN: Final = 200  # characters of what the other side said

# What OpenSSH says, before it hangs up, to callers that are too many or were refused before.
_WORDS_OF_SSHD: Final = ("SSH-", "Exceeded MaxStartups", "Not allowed at this time")

# It would tell of every connection at the level that the panel logs at.
logging.getLogger("asyncssh").setLevel(logging.WARNING)

# Nothing of the account that Preflight runs under: no files of ~/.ssh, no agent, no forwarding.
_APART: Final[Mapping[str, Any]] = {
    "config": None,
    "compression_algs": ["none"],
    "x509_trusted_certs": None,
    "x509_trusted_cert_paths": None,
}
_ALONE: Final[Mapping[str, Any]] = {
    **_APART,
    "agent_path": None,
    "agent_forwarding": False,
    "pkcs11_provider": None,
    "x11_forwarding": False,
    "gss_host": None,
    "gss_kex": False,
    "gss_auth": False,
    "host_based_auth": False,
    "password_auth": False,
    "kbdint_auth": False,
    "public_key_auth": True,
    "preferred_auth": ["publickey"],
    "client_certs": (),
    "keepalive_interval": KEEPALIVE_SECONDS,
    "keepalive_count_max": KEEPALIVES_MISSED,
}


@asynccontextmanager
async def logged_in(spec: HostSpec, *, seconds: float) -> AsyncIterator[asyncssh.SSHClientConnection]:
    """Log in to the host, through its jump hosts, within `seconds`. Raises GroundLost."""
    ends = monotonic() + seconds
    async with AsyncExitStack() as lines:
        connection: asyncssh.SSHClientConnection | None = None
        for hop in _way_to(spec):
            connection = await _log_in(hop, connection, ends)
            lines.push_async_callback(_hang_up, connection)
        if connection is None:
            raise RuntimeError("A way has at least its end.")
        yield connection


async def offered_key(spec: HostSpec, *, seconds: float = LOGIN_SECONDS) -> str:
    """Return the OpenSSH line of the key that the host shows and proves to have; nobody is logged in there
    (only to jump hosts, whose keys are accepted). Raises GroundLost."""
    ends = monotonic() + seconds
    if spec.jump is None:
        return await _shown_key(spec, None, ends)
    async with logged_in(spec.jump, seconds=seconds) as through:
        return await _shown_key(spec, through, ends)


def _way_to(spec: HostSpec) -> list[HostSpec]:
    """The machines to log in to, the nearest first, the host itself last."""
    way = [spec]
    while way[0].jump is not None:
        way.insert(0, way[0].jump)
    return way


async def _log_in(
    spec: HostSpec, through: asyncssh.SSHClientConnection | None, ends: float
) -> asyncssh.SSHClientConnection:
    if not spec.host_keys:
        line = await _shown_key(spec, through, ends)
        raise GroundLost(Reason.HOST_KEY_UNKNOWN, _say(spec, offered=fingerprint_of(line)))
    witness = Witness()
    async with _explained(spec, witness, through, ends), _route(spec, through, ends) as route:
        keys = pinned(spec)
        async with asyncio.timeout(min(LOGIN_SECONDS, _left(ends))):
            return await asyncssh.connect(
                spec.address,
                spec.port,
                **route,
                **_ALONE,
                client_factory=lambda: witness,
                known_hosts=(keys, [], []),
                server_host_key_algs=algorithms_for(keys),
                username=spec.user,
                client_keys=[_login_key(spec)],
                login_timeout=LOGIN_SECONDS,
            )


async def _shown_key(spec: HostSpec, through: asyncssh.SSHClientConnection | None, ends: float) -> str:
    witness = Witness()
    async with _explained(spec, witness, through, ends), _route(spec, through, ends) as route:
        options = asyncssh.SSHClientConnectionOptions(
            **_ALONE, client_keys=None, client_factory=lambda: witness, username=spec.user
        )
        async with asyncio.timeout(min(LOGIN_SECONDS, _left(ends))):
            key = await asyncssh.get_server_host_key(
                spec.address,
                spec.port,
                **route,
                config=None,
                options=options,
                server_host_key_algs=HOST_KEY_ALGORITHMS,
            )
    if key is None:  # a key exchange of a kind that we do not offer
        raise GroundLost(Reason.HOST_NOT_SSH, _say(spec))
    return line_of(key)


@asynccontextmanager
async def _route(
    spec: HostSpec, through: asyncssh.SSHClientConnection | None, ends: float
) -> AsyncIterator[Mapping[str, Any]]:
    """Give what asyncssh goes over: a judged socket of ours, or the jump host, for which the name is its
    own business and a literal address still ours."""
    if _left(ends) <= 0:
        raise GroundLost(Reason.DEADLINE_SPENT, _say(spec))
    if through is not None:
        literal = ip_of(spec.address)
        denial = judge(literal, spec.egress) if literal is not None else None
        if denial is not None:
            raise GroundLost(Reason.EGRESS_DENIED, _say(spec))
        yield {"tunnel": through}
        return
    seconds = min(CONNECT_SECONDS, _left(ends))
    opened = await open_socket(spec.address, spec.port, scheme="ssh", policy=spec.egress, seconds=seconds)
    if isinstance(opened, Evidence):
        raise GroundLost(classify(opened).reason, _say(spec), opened.failure)
    try:
        yield {"sock": opened}
    except BaseException:
        opened.close()
        raise


@asynccontextmanager
async def _explained(
    spec: HostSpec, witness: Witness, through: asyncssh.SSHClientConnection | None, ends: float
) -> AsyncIterator[None]:
    """Turn what asyncssh raises until the login into reasons."""
    try:
        yield
    except TimeoutError as error:
        raise GroundLost(Reason.HOST_SILENT, _say(spec)) from error
    except asyncssh.HostKeyNotVerifiable as error:
        raise GroundLost(Reason.HOST_KEY_CHANGED, _say_change(spec, witness)) from error
    except asyncssh.PermissionDenied as error:
        raise GroundLost(Reason.HOST_LOGIN_REFUSED, _say_login(spec)) from error
    except asyncssh.KeyExchangeFailed as error:
        raise GroundLost(Reason.HOST_NOT_SSH, _say(spec, said=str(error))) from error
    except asyncssh.ChannelOpenError as error:
        raise GroundLost(_beyond_the_jump(spec, error), _say(spec, said=error.reason)) from error
    except (asyncssh.Error, OSError, EOFError) as error:
        if witness.spoke or through is not None:
            raise GroundLost(Reason.HOST_DISCONNECTED, _say(spec, said=str(error))) from error
        words = await _first_words(spec, ends)
        strange = words and not words.startswith(_WORDS_OF_SSHD)
        reason = Reason.HOST_NOT_SSH if strange else Reason.HOST_DISCONNECTED
        raise GroundLost(reason, _say(spec, said=words)) from error


async def _first_words(spec: HostSpec, ends: float) -> str:
    """Call once more and return how a server greets who greets it: asyncssh keeps no line that is not SSH.
    Empty when it says nothing."""
    seconds = max(0.0, min(LOOK_SECONDS, _left(ends)))
    opened = await open_socket(spec.address, spec.port, scheme="ssh", policy=spec.egress, seconds=seconds)
    if isinstance(opened, Evidence):
        return ""
    loop = asyncio.get_running_loop()
    with opened:
        try:
            async with asyncio.timeout(seconds):
                await loop.sock_sendall(opened, b"SSH-2.0-Preflight\r\n")
                return (await loop.sock_recv(opened, SHOWN)).decode("latin-1")
        except OSError:
            return ""


def _beyond_the_jump(spec: HostSpec, error: asyncssh.ChannelOpenError) -> Reason:
    """Judge by its words why the jump host did not reach the next machine."""
    failure = Failure(FailureKind.PROTOCOL, error.reason[:SHOWN], Phase.CONNECT)
    reason = classify(Evidence(method="", url=f"ssh://{spec.address}", failure=failure)).reason
    return reason if reason.layer in ("dns", "tcp") else Reason.HOST_JUMP_REFUSED


def _login_key(spec: HostSpec) -> asyncssh.SSHKey:
    """Return the private key; the error of a broken one holds nothing of it."""
    try:
        return asyncssh.import_private_key(spec.private_key.reveal() if spec.private_key else "")
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, ValueError):
        raise GroundLost(Reason.HOST_LOGIN_REFUSED, _say(spec, user=spec.user, fingerprint="")) from None


def _say(spec: HostSpec, **more: str) -> dict[str, str]:
    """Return values for a sentence; what the other side said is capped, and text alone."""
    shown = {name: " ".join(value.split())[:SHOWN] for name, value in more.items()}
    address = f"[{spec.address}]" if ":" in spec.address else spec.address
    return {"host": spec.name, "address": f"{address}:{spec.port}", **shown}


def _say_change(spec: HostSpec, witness: Witness) -> dict[str, str]:
    accepted = ", ".join(map(fingerprint_of, spec.host_keys))
    offered = witness.offered.get_fingerprint() if witness.offered is not None else ""
    return _say(spec, accepted=accepted, offered=offered)


def _say_login(spec: HostSpec) -> dict[str, str]:
    return _say(spec, user=spec.user, fingerprint=_login_key(spec).get_fingerprint())


def _left(ends: float) -> float:
    return ends - monotonic()


async def _hang_up(connection: asyncssh.SSHClientConnection) -> None:
    """Close politely, and at once where the host does not answer to it."""
    connection.close()
    try:
        async with asyncio.timeout(HANG_UP_SECONDS):
            await connection.wait_closed()
    except (TimeoutError, asyncssh.Error, OSError):
        pass
    finally:
        connection.abort()
