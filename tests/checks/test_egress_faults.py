"""Each exception of the libraries below has a kind: a new one must be mapped before it is met."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import zlib

import h11
import httpx
import pytest

from checks.egress.faults import failure_of, kind_of, translated
from checks.outcome import FailureKind, Phase

LIBRARIES = (h11, ssl, socket, httpx, zlib, asyncio)
# Of queues, of reading by lines, of sending files: none is in the way of a request.
NOT_OF_AN_EXCHANGE = {
    "BrokenBarrierError",
    "InvalidStateError",
    "LimitOverrunError",
    "QueueEmpty",
    "QueueFull",
    "QueueShutDown",
    "SendfileNotAvailableError",
}


def exceptions() -> set[type[Exception]]:
    roots = {
        value
        for library in LIBRARIES
        for value in vars(library).values()
        if isinstance(value, type) and issubclass(value, Exception) and not issubclass(value, Warning)
    }
    named = roots | {below for root in roots for below in root.__subclasses__()}
    ours = {
        cls
        for cls in named
        if cls.__module__.split(".")[0] in ("h11", "ssl", "socket", "httpx", "zlib", "asyncio")
    }
    return {cls for cls in ours if cls.__name__ not in NOT_OF_AN_EXCHANGE and cls.__name__[0] != "_"}


@pytest.mark.parametrize("cls", sorted(exceptions(), key=repr))
def test_each_exception_of_the_libraries_has_a_kind(cls: type[Exception]) -> None:
    exc = cls.__new__(cls)
    if isinstance(exc, h11.ProtocolError):
        exc = h11.RemoteProtocolError("odd")
    assert all(kind_of(exc, phase) is not None for phase in Phase)


@pytest.mark.parametrize(
    ("number", "phase", "kind"),
    [
        (errno.ECONNREFUSED, Phase.CONNECT, FailureKind.REFUSED),
        (errno.EHOSTUNREACH, Phase.CONNECT, FailureKind.REFUSED),
        (errno.ENETUNREACH, Phase.CONNECT, FailureKind.REFUSED),
        (errno.ETIMEDOUT, Phase.CONNECT, FailureKind.TIMEOUT),
        (errno.ECONNRESET, Phase.WAIT, FailureKind.RESET),
        (errno.EPIPE, Phase.WAIT, FailureKind.RESET),
        (errno.EMFILE, Phase.CONNECT, FailureKind.CLIENT),
        (errno.ENOENT, Phase.BUILD, FailureKind.CLIENT),
    ],
)
def test_errors_of_the_system_are_told_apart(number: int, phase: Phase, kind: FailureKind) -> None:
    failure = failure_of(OSError(number, "odd"), phase)
    assert failure is not None
    assert (failure.kind, failure.errno) == (kind, number)


def test_a_bug_of_ours_is_not_disguised_as_a_failure() -> None:
    with pytest.raises(KeyError), translated(lambda: Phase.WAIT):
        raise KeyError("ours")


def test_the_chain_holds_causes_outermost_first() -> None:
    late = TimeoutError("late")
    late.__cause__ = OSError(errno.ECONNRESET, "reset")
    failure = failure_of(late, Phase.WAIT)
    assert failure is not None
    assert [name for name, _ in failure.chain] == ["builtins.TimeoutError", "builtins.ConnectionResetError"]


def test_what_quotes_the_request_is_not_quoted() -> None:
    failure = failure_of(h11.LocalProtocolError("Illegal header value b'Bearer sk-test-1\\n'"), Phase.BUILD)
    assert failure is not None
    assert failure.message == "Illegal header value"
    assert "sk-test" not in repr(failure)
