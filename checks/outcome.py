"""What the engine found: frozen steps with timings and evidence, closed statuses, one reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum

from checks.reason import Reason


class Rung(IntEnum):
    """The ladder, from the bottom."""

    NETWORK = 1
    CHANNEL = 2
    SDK = 3
    AGENT = 4
    ROLLOUT = 5


class Status(StrEnum):
    """How a step or a whole climb ended.

    `NOT_TESTABLE` (could not be asked here or now) and `NOT_REACHED` (an earlier rung broke) are
    never counted as down.
    """

    OK = "ok"
    DEGRADED = "degraded"
    DOWN = "down"
    NOT_TESTABLE = "not_testable"
    NOT_REACHED = "not_reached"


class FailureKind(StrEnum):
    """Where a request died without an answer. `PROTOCOL`: a message could not be built or parsed;
    `CLIENT`: raised before any request was made; `DENIED`: our own egress policy refused it;
    `TOO_LARGE`: the answer passed a cap of ours."""

    DNS = "dns"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    RESET = "reset"
    TLS = "tls"
    PROXY = "proxy"
    PROTOCOL = "protocol"
    CLIENT = "client"
    DENIED = "denied"
    TOO_LARGE = "too_large"


class Phase(StrEnum):
    """The part of an exchange that was under way."""

    BUILD = "build"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    WAIT = "wait"
    TRANSFER = "transfer"


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds spent in each phase; None for a phase that did not happen."""

    dns_ms: float | None = None
    connect_ms: float | None = None
    tls_ms: float | None = None
    wait_ms: float | None = None
    transfer_ms: float | None = None

    @property
    def total_ms(self) -> float:
        """The sum of the phases that happened."""
        parts = (self.dns_ms, self.connect_ms, self.tls_ms, self.wait_ms, self.transfer_ms)
        return sum(part for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer. `chain` holds the exception classes and texts, outermost first,
    already redacted; `errno` is the operating system's number where there is one."""

    kind: FailureKind
    message: str
    phase: Phase | None = None
    errno: int | None = None
    chain: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Certificate:
    """The leaf the server showed, also when it was not trusted. Dates are aware UTC."""

    issuer: str
    subject: str
    names: tuple[str, ...]
    not_before: datetime | None
    not_after: datetime | None
    tls_version: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was measured of one exchange; `verdict.classify` judges nothing else.

    Gathered alike by the probes, by the collector on a host, and from a line of recorded cases.
    `headers` have lower-case names; `body` is text, capped. `client` and `server` are free hints
    ("litellm", "vLLM") and may be empty. `context` holds further facts: environment variables by
    name, sibling probes, key shape (never the key), the model list.
    """

    method: str = "POST"
    url: str = ""
    model: str = ""
    params: Mapping[str, object] = field(default_factory=dict)
    lane: str = ""
    client: str = ""
    server: str = ""
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    failure: Failure | None = None
    peer: str = ""
    addresses: tuple[str, ...] = ()
    certificate: Certificate | None = None
    timings: Timings = field(default_factory=Timings)
    context: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One named cause. `candidates` holds codes, best first (the first is `reason`), where the
    evidence cannot separate them; `facts` are values the sentences of the dictionary may name."""

    reason: Reason
    candidates: tuple[Reason, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One question asked on one rung. `name` is stable and lower case: "resolve", "connect",
    "tls", "models", "chat", and those of the lane contracts (`checks.probes.contracts`). `say` holds
    values for the sentence on the page (address, status, model). `tokens` were counted from usage. `place`
    is where it was asked: a zone's name, or "host:" and the host's name.
    """

    rung: Rung
    name: str
    status: Status
    reason: Reason | None = None
    candidates: tuple[Reason, ...] = ()
    say: Mapping[str, str] = field(default_factory=dict)
    evidence: Evidence | None = None
    duration_ms: float = 0.0
    tokens: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What a climb says while it is under way: rungs' steps so far, or lines that a command printed."""

    spec_id: str
    steps: tuple[Step, ...] = ()
    output: str = ""


SUPPORTING_STEPS = frozenset(
    {
        *("models", "candidates", "wedge", "negative", "host", "environment", "proxies"),
        *("responses", "forced_tool", "json_schema", "developer_role", "content_parts", "image"),
        *("template_kwargs", "sampling"),
    }
)
"""Names of steps that explain or inform, and never decide how a rung ended."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one climb says. `rung` is the first broken rung, else the highest that passed;
    `latency_ms` is the channel's time to its full answer, None when it gave none. `offered_base_url` is
    the neighbour of the lane's base URL that answered as an API where the lane's own leads past it; None
    when none was searched or found. `contract` is the worst status among the lane's promises that were
    asked for and decide; None when none was asked."""

    spec_id: str
    status: Status
    rung: Rung
    reason: Reason | None
    steps: tuple[Step, ...]
    started: datetime
    duration_ms: float
    tokens: int = 0
    latency_ms: float | None = None
    candidates: tuple[Reason, ...] = ()
    token_parameter: str | None = None
    offered_base_url: str | None = None
    contract: Status | None = None
