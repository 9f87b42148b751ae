"""What a client library told of one question, read with distrust and turned into evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from checks.addresses import chat_url
from checks.outcome import Evidence, Failure, FailureKind, Timings
from checks.probes.chat import key_context
from checks.probes.completion import MAX_COUNTED_TOKENS
from checks.spec import LaneSpec

MAX_BODY: Final = 32_768
MAX_TEXT: Final = 2_000
MAX_SHOWN: Final = 200
MAX_CHAIN: Final = 12
MAX_HEADERS: Final = 60

# Exception classes by the end of their name; the innermost that is known decides.
_KINDS: Final[tuple[tuple[str, FailureKind], ...]] = (
    ("gaierror", FailureKind.DNS),
    ("ConnectionRefusedError", FailureKind.REFUSED),
    ("SSLError", FailureKind.TLS),
    ("SSLCertVerificationError", FailureKind.TLS),
    ("ProxyError", FailureKind.PROXY),
    ("ConnectionResetError", FailureKind.RESET),
    ("BrokenPipeError", FailureKind.RESET),
    ("RemoteProtocolError", FailureKind.RESET),
    ("ReadError", FailureKind.RESET),
    ("TimeoutError", FailureKind.TIMEOUT),
    ("ConnectTimeout", FailureKind.TIMEOUT),
    ("ReadTimeout", FailureKind.TIMEOUT),
    ("InvalidURL", FailureKind.CLIENT),
    ("UnsupportedProtocol", FailureKind.CLIENT),
    ("LocalProtocolError", FailureKind.CLIENT),
)


@dataclass(frozen=True, slots=True)
class Story:
    """One question through a client. `client` is its name; `told` is what came from the other side, none of
    it checked: every property reads one value, capped."""

    client: str
    told: Mapping[str, Any]

    def text(self, name: str) -> str:
        """A value as text of at most 200 characters; empty when absent."""
        value = self.told.get(name)
        return str(value)[:MAX_SHOWN] if isinstance(value, (str, int)) else ""

    @property
    def answered(self) -> bool:
        """Whether the client gave its caller an answer, and a completion was seen in what came."""
        shape = self.seen.get("is_completion")
        return self.told.get("answered") is True and shape is not False

    @property
    def is_silent(self) -> bool:
        """Whether nothing was told at all: the interpreter, or the shell before it, ended by itself."""
        return not self.told.keys() - {"overran", "complaint"} and self.told.get("overran") is not True

    def is_absent(self, package: str) -> bool:
        """Whether that Python does not have the library."""
        missing = any(name.rpartition(".")[2] == "ModuleNotFoundError" for name, _ in self.chain[:1])
        return self.told.get("stage") == "import" and missing and f"'{package}'" in self.chain[0][1]

    @property
    def seen(self) -> Mapping[str, Any]:
        """The last exchange below the client, else what its exception carries of an answer."""
        for name in ("seen", "response"):
            found = self.told.get(name)
            if isinstance(found, dict) and (found.get("status") or found.get("url")):
                return found
        return {}

    @property
    def status(self) -> int | None:
        """The status that the client met; None when there was no answer."""
        status = self.seen.get("status")
        return status if isinstance(status, int) and not isinstance(status, bool) else None

    @property
    def chain(self) -> tuple[tuple[str, str], ...]:
        """Classes and texts of what was raised, outermost first."""
        return tuple((str(link[0])[:MAX_SHOWN], str(link[1])[:MAX_TEXT]) for link in self._links)

    @property
    def _links(self) -> list[Any]:
        links = self.told.get("chain")
        listed = links if isinstance(links, list) else []
        return [link for link in listed[:MAX_CHAIN] if isinstance(link, list) and len(link) == 3]

    @property
    def failure(self) -> Failure | None:
        """What was raised, as a failure; None when nothing was."""
        if self.told.get("overran") is True and not self.chain:
            return Failure(FailureKind.TIMEOUT, f"{self.client} gave no answer in time")
        if not self.chain:
            return None
        numbers = [link[2] for link in self._links if isinstance(link[2], int)]
        name, text = self.chain[0]
        errno = numbers[-1] if numbers else None
        return Failure(_kind_of(self.chain), f"{name}: {text}", errno=errno, chain=self.chain)

    @property
    def tokens(self) -> int:
        """What the client counted; 0 where nothing sensible was."""
        total = self.told.get("tokens")
        known = isinstance(total, int) and not isinstance(total, bool) and 0 <= total <= MAX_COUNTED_TOKENS
        return total if known and isinstance(total, int) else 0

    @property
    def wait_ms(self) -> float:
        """Milliseconds from the question to the answer."""
        waited = self.told.get("wait_ms")
        return float(waited) if isinstance(waited, (int, float)) else 0.0

    @property
    def environment(self) -> dict[str, str]:
        """The variables that steer a client, as it saw them; none is a key."""
        found = self.told.get("env")
        pairs = found.items() if isinstance(found, dict) else ()
        return {str(name)[:MAX_SHOWN]: str(value)[:MAX_TEXT] for name, value in list(pairs)[:MAX_HEADERS]}

    @property
    def effective_base_url(self) -> str:
        """Where the client sends its requests: from what it did, else from what it said of itself."""
        went = self.text("elsewhere") or str(self.seen.get("url") or "")[:MAX_TEXT]
        return went.removesuffix("/chat/completions") or self.text("base_url")

    def evidence(self, spec: LaneSpec, parameter: str, length: int) -> Evidence:
        """Return what a verdict judges: the answer that was seen, with what was raised over it."""
        dialled = self.told.get("dialled")
        peers = [str(one)[:MAX_SHOWN] for one in dialled] if isinstance(dialled, list) else []
        context: dict[str, object] = {**key_context(spec), "env": self.environment}
        return Evidence(
            url=str(self.seen.get("url") or chat_url(spec.base_url))[:MAX_TEXT],
            model=self.text("model") or spec.model,
            params={parameter: length},
            lane=spec.lane,
            client=f"{self.client} {self.text('version')}".strip(),
            server=spec.kind,
            status=self.status,
            headers=_headers(self.seen.get("headers")),
            body=str(self.seen.get("body") or "")[:MAX_BODY],
            failure=self.failure,
            peer=peers[-1] if peers else "",
            timings=Timings(wait_ms=self.wait_ms or None),
            context=context,
        )


def answer_alone(evidence: Evidence) -> Evidence:
    """Return the evidence without what a client raised over an answer: the answer says more."""
    return replace(evidence, failure=None)


def failure_alone(evidence: Evidence) -> Evidence:
    """Return the evidence without the answer, for a client that could not read a good one."""
    return replace(evidence, status=None, headers={}, body="")


def _kind_of(chain: tuple[tuple[str, str], ...]) -> FailureKind:
    for name, _ in reversed(chain):
        for ending, kind in _KINDS:
            if name.rpartition(".")[2] == ending:
                return kind
    return FailureKind.CLIENT


def _headers(found: object) -> dict[str, str]:
    listed = found if isinstance(found, list) else []
    pairs = [pair for pair in listed[:MAX_HEADERS] if isinstance(pair, list) and len(pair) == 2]
    return {str(name).lower()[:MAX_SHOWN]: str(value)[:MAX_TEXT] for name, value in pairs}
