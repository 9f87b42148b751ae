"""What is known of an exchange while it runs, so that one that dies still tells what it saw."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address
from time import perf_counter

from checks.egress.target import Target
from checks.outcome import Certificate, Phase, Timings


class Progress:
    """The notebook of one exchange: each part fills in what it learns, in the order of the phases."""

    __slots__ = (
        "_spent",
        "address",
        "addresses",
        "body",
        "certificate",
        "first_bytes",
        "headers",
        "peer",
        "phase",
        "status",
        "target",
    )

    def __init__(self) -> None:
        self.phase = Phase.BUILD
        self.target: Target | None = None
        self.address: IPv4Address | IPv6Address | None = None
        self.addresses: tuple[str, ...] = ()
        self.peer = ""
        self.certificate: Certificate | None = None
        self.first_bytes = b""
        self.status: int | None = None
        self.headers: tuple[tuple[str, str], ...] = ()
        self.body = bytearray()
        self._spent: dict[Phase, float] = {}

    @contextmanager
    def during(self, phase: Phase) -> Iterator[None]:
        """Time a phase; one that fails is timed up to its failure and stays the current one."""
        self.phase = phase
        begun = perf_counter()
        try:
            yield
        finally:
            self._spent[phase] = (perf_counter() - begun) * 1000

    def take_over(self, other: Progress) -> None:
        """Note of a connection opened before how it came to be."""
        self.addresses, self.address, self.peer = other.addresses, other.address, other.peer
        self.certificate = other.certificate
        self._spent |= other._spent

    @property
    def timings(self) -> Timings:
        """Milliseconds of each phase that happened."""
        spent = self._spent.get
        return Timings(
            dns_ms=spent(Phase.DNS),
            connect_ms=spent(Phase.CONNECT),
            tls_ms=spent(Phase.TLS),
            wait_ms=spent(Phase.WAIT),
            transfer_ms=spent(Phase.TRANSFER),
        )
