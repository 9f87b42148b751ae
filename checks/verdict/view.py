"""What every rule looks at: one exchange, its address taken apart, its environment facts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address, ip_network

from checks.outcome import Evidence, FailureKind
from checks.verdict.answer import Answer, read_answer
from checks.verdict.words import BODY_CAP

FAILURE_CAP = 8 * 1024
"""Characters of exception texts that patterns may look at."""

_URL = re.compile(r"\s*(?:(?P<scheme>[a-zA-Z][\w+.-]*):/{1,2})?(?P<netloc>[^/?#]*)(?P<path>[^?#]*)")
_CONTAINER = re.compile(r"\b(?:docker|container|compose|podman|kubernetes|k8s|devcontainer)\b|容器")
_SCHEMED = re.compile(r"^[a-z0-9+.-]{1,12}://", re.I)
_TRUE = frozenset(("true", "yes", "1", "set", "on"))
_LOCAL_SUFFIXES = (".local", ".lan", ".internal", ".home", ".localdomain", ".svc", ".intranet", ".corp")
PROXY_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@dataclass(frozen=True, slots=True)
class Url:
    """An address as configured, also when it is none: every part may be empty."""

    text: str
    scheme: str
    host: str
    port: int | None
    path: str

    @property
    def segments(self) -> tuple[str, ...]:
        """The path's parts in lower case, without empty ones."""
        return tuple(part for part in self.path.lower().split("/") if part)


@dataclass(frozen=True, slots=True)
class View:
    """One exchange as the rules see it; made once by `look_at`."""

    evidence: Evidence
    answer: Answer
    url: Url
    env: Mapping[str, str]
    failure_text: str

    @property
    def kind(self) -> FailureKind | None:
        """Where the request died; None when there was an answer."""
        return self.evidence.failure.kind if self.evidence.failure else None

    @property
    def status(self) -> int | None:
        """The status of the answer; None when there was none."""
        return self.answer.status

    @property
    def hints(self) -> str:
        """The free hints on client and server, in lower case."""
        return f"{self.evidence.client} | {self.evidence.server}".lower()

    @property
    def to_loopback(self) -> bool:
        """Whether the request was meant for this machine."""
        return is_loopback(self.url.host)

    @property
    def to_lan(self) -> bool:
        """Whether the request was meant for a machine of one's own: loopback, private, undotted."""
        return is_lan(self.url.host)

    @property
    def in_container(self) -> bool:
        """Whether the client is known to run in a container."""
        if "client_in_container" in self.evidence.context:
            return self.flag("client_in_container") is True
        if self.flag("in_container") is True:
            return True
        return bool(_CONTAINER.search(self.evidence.client.lower()[:200]))

    def fact(self, *names: str) -> object:
        """The first of these context facts that is present; None otherwise."""
        for name in names:
            if name in self.evidence.context:
                return self.evidence.context[name]
        return None

    def words(self, *names: str) -> str:
        """A context fact as lower-case text, empty when absent."""
        found = self.fact(*names)
        return "" if found is None else str(found)[:2000].lower()

    def flag(self, name: str) -> bool | None:
        """A context fact as a truth value; None when it is absent."""
        found = self.evidence.context.get(name)
        if found is None:
            return None
        return found if isinstance(found, bool) else str(found).strip().lower() in _TRUE

    def number(self, *names: str) -> float | None:
        """A context fact as a number; None when it is absent or no number."""
        found = self.fact(*names)
        try:
            return None if found is None else float(str(found))
        except ValueError:
            return None

    @property
    def proxies(self) -> tuple[tuple[str, int | None], ...]:
        """Host and port of every proxy the client may use; ("", None) for one only known to be set."""
        texts = [self.env[name] for name in PROXY_NAMES if self.env.get(name, "").strip()]
        for name, value in self.evidence.context.items():
            low = str(name).lower()
            if "proxy" in low and low not in ("no_proxy", "host_proxy") and value and value is not False:
                texts.append(str(value))
        return tuple(_proxy(text) for text in texts)

    @property
    def bypasses_proxy(self) -> bool:
        """Whether NO_PROXY names the target by its exact name (what every client understands)."""
        listed = [part.strip().lower() for part in self.env.get("NO_PROXY", "").split(",")]
        host = self.url.host
        return any(
            part and (part == "*" or part == host or host.endswith("." + part.lstrip("."))) for part in listed
        )

    @property
    def elapsed(self) -> float | None:
        """Seconds the exchange took, measured or reported; None when unknown."""
        told = self.number("elapsed_s", "elapsed", "elapsed_seconds", "duration_s")
        if told is not None:
            return told
        measured = self.evidence.timings.total_ms
        return measured / 1000 if measured else None


def look_at(evidence: Evidence) -> View:
    """Take the evidence apart, once."""
    env = evidence.context.get("env")
    pairs = env.items() if isinstance(env, Mapping) else ()
    known: dict[str, str] = {}
    for name, value in pairs:
        if value is not None and (str(value).strip() or str(name).upper() not in known):
            known[str(name).upper()] = str(value)
    return View(
        evidence=evidence,
        answer=read_answer(evidence.status, evidence.headers, evidence.body),
        url=parse_url(evidence.url),
        env=known,
        failure_text=_failure_text(evidence),
    )


@lru_cache(maxsize=2048)
def parse_url(text: str) -> Url:
    """Take an address apart without judging it. Never raises."""
    match = _URL.match(text[:4000])
    if match is None:
        return Url(text, "", "", None, "")
    netloc = match["netloc"].rpartition("@")[2].strip().strip("'\"")
    host, port = _host_port(netloc)
    return Url(text, (match["scheme"] or "").lower(), host, port, match["path"])


def _host_port(netloc: str) -> tuple[str, int | None]:
    bracketed = re.match(r"\[([^\]]*)\](?::(\d+))?", netloc)
    if bracketed:
        return bracketed[1].lower(), int(bracketed[2][:9]) if bracketed[2] else None
    host, colon, port = netloc.rpartition(":")
    if colon and port.strip().isascii() and port.strip().isdigit():
        return host.lower(), int(port.strip()[:9])
    return netloc.lower(), None


def _proxy(text: str) -> tuple[str, int | None]:
    bare = text.strip().strip("'\"")
    if not _SCHEMED.match(bare) and ":" not in bare:
        return "", None
    url = parse_url(bare if _SCHEMED.match(bare) else "http://" + bare)
    return url.host, url.port


@lru_cache(maxsize=2048)
def is_loopback(host: str) -> bool:
    """Whether a host name or address means the machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


_PRIVATE = tuple(
    ip_network(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)


@lru_cache(maxsize=2048)
def is_lan(host: str) -> bool:
    """Whether a host is one's own: loopback, a private address, an undotted or a local name."""
    if not host:
        return False
    if is_loopback(host) or host.endswith(_LOCAL_SUFFIXES):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host
    return address.is_link_local or any(address in net for net in _PRIVATE if net.version == address.version)


def _failure_text(evidence: Evidence) -> str:
    failure = evidence.failure
    if failure is None:
        return ""
    parts = [failure.message]
    parts += [f"{name}: {text}" for name, text in failure.chain[:20]]
    return " <- ".join(part[:FAILURE_CAP] for part in parts)[: min(FAILURE_CAP, BODY_CAP)].lower()
