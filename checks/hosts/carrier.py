"""Exchanges made by a host in place of the worker: asked there by a program, judged here like any other.

The worker's egress policy says what workers may reach, and a host's reach is its own business: its loopback
and its networks are just what is asked for. Link-local and cloud metadata addresses stay refused, here for
a literal and on the host for what a name resolves to.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import certifi

from checks.egress import EgressError, Exchange, judge
from checks.egress.certificates import read_certificate
from checks.egress.faults import Refused, translated
from checks.egress.policy import NEVER, parse_address
from checks.egress.progress import Progress
from checks.egress.target import parse_url
from checks.egress.wire import decoded
from checks.hosts.ground import Ground, GroundLost
from checks.outcome import Certificate, Failure, FailureKind, Phase, Timings
from checks.reason import Reason
from checks.spec import EgressPolicy, HostSpec, Recipe

PROGRAM: Final = "reach"
MARGIN_SECONDS: Final = 8.0  # for a slow start and login shell before, and the direct word after it
MAX_BODY: Final = 1 << 20
MAX_HEADERS: Final = 200
MAX_SHOWN: Final = 2_000
MAX_LISTED: Final = 32
MAX_CHAIN: Final = 6

_EVERYWHERE: Final = EgressPolicy((IPv4Network("0.0.0.0/0"), IPv6Network("::/0")))
_CHAT: Final = "/chat/completions"


class HostCarrier:
    """Carries the exchanges of one rung. When its ground is lost, `lost` says how; what is asked then and
    later fails at once, and says nothing of the lane."""

    def __init__(self, ground: Ground, host: HostSpec, recipe: Recipe | None, run: str) -> None:
        self._ground = ground
        self._run = run
        self._shell = {
            "activate": (recipe and recipe.activate) or host.activate,
            "workdir": (recipe and recipe.workdir) or host.workdir,
        }
        self._plain = False
        self.lost: GroundLost | None = None

    async def carry(
        self,
        method: str,
        url: str,
        *,
        deadline: float,
        headers: Mapping[str, str],
        content: bytes,
        ca_file: str | None,
    ) -> Exchange:
        """See `Carrier.carry`."""
        blank = Exchange(method, url)
        if refused := _refused(blank):
            return refused
        request = {
            "method": method,
            "url": url,
            "headers": dict(headers),
            "content": base64.b64encode(content).decode(),
            "deadline": deadline,
            "never": [str(network) for network, _ in NEVER],
            "direct_url": url.removesuffix(_CHAT) + "/models" if url.endswith(_CHAT) else url,
            **self._shell,
        }
        try:
            pem = Path(ca_file).read_text() if ca_file else ""
            got = await self._asked(blank, {**request, "ca": pem})
            if _lacks_authorities(got):
                got = await self._asked(blank, {**request, "ca": pem + Path(certifi.where()).read_text()})
        except GroundLost as lost:
            self.lost = lost
            return replace(blank, failure=Failure(FailureKind.CLIENT, str(lost.reason)))
        return got

    async def _asked(self, blank: Exchange, request: Mapping[str, Any]) -> Exchange:
        if self.lost is not None:
            raise self.lost
        seconds = request["deadline"] + MARGIN_SECONDS
        # A mark for each, since exchanges may overlap and a program ends all that bears its mark.
        told = await self._ground.run(
            PROGRAM,
            {**request, "plain": self._plain},
            run=f"{self._run}-{token_hex(6)}",
            seconds=seconds,
        )
        try:
            got = _exchange(blank, told)
        except (KeyError, TypeError, ValueError, zlib.error) as error:
            raise GroundLost(Reason.HOST_DISCONNECTED, {}) from error
        self._plain = self._plain or told.get("matters") is False
        return got


def _refused(blank: Exchange) -> Exchange | None:
    """The end of what is never asked, from nowhere: no URL, or a literal that is never allowed."""
    try:
        with translated(lambda: Phase.BUILD):
            url = parse_url(blank.url)
            if url.scheme not in ("http", "https") or not url.host or url.userinfo:
                raise Refused(
                    FailureKind.PROTOCOL, "Invalid URL: it is not http or https, or carries a login."
                )
    except EgressError as error:
        return replace(blank, failure=error.failure)
    address = parse_address(url.host)
    denial = judge(address, _EVERYWHERE) if address is not None else None
    if denial is None:
        return None
    failure = Failure(FailureKind.DENIED, str(denial), Phase.DNS)
    return replace(blank, failure=failure, addresses=(str(address),))


def _lacks_authorities(got: Exchange) -> bool:
    """Whether the server was not believed, where no file of the host's own says whom to believe: a bare
    Python there may have no list, and the clients bring certifi's."""
    env = got.context.get("env")
    own = isinstance(env, Mapping) and "SSL_CERT_FILE" in env
    return got.failure is not None and got.failure.kind is FailureKind.TLS and not own


def _exchange(blank: Exchange, told: Mapping[str, Any]) -> Exchange:
    """What the program told, with every size and type made sure of. Raises KeyError, TypeError, ValueError or
    zlib.error for what our program would not tell."""
    headers = tuple((str(name)[:200], str(value)) for name, value in told["headers"][:MAX_HEADERS])
    packed = zlib.decompressobj().decompress(base64.b64decode(told["body"]), MAX_BODY)
    body, failure = _unpacked(headers, packed, _failure(told["failure"]))
    return replace(
        blank,
        status=int(told["status"]) if told["status"] is not None else None,
        headers=headers,
        body=body,
        failure=failure,
        addresses=tuple(str(address)[:100] for address in told["addresses"][:MAX_LISTED]),
        peer=str(told["peer"])[:300],
        certificate=_certificate(base64.b64decode(told["certificate"]), str(told["tls_version"])[:20]),
        timings=_timings(told["timings"]),
        context=_context(told),
    )


def _unpacked(
    headers: tuple[tuple[str, str], ...], packed: bytes, failure: Failure | None
) -> tuple[bytes, Failure | None]:
    """The body without its declared encoding; one that does not unpack is a failure of its own."""
    progress = Progress()
    progress.phase, progress.headers, progress.body = Phase.TRANSFER, headers, bytearray(packed)
    if failure is not None:
        return packed, failure
    try:
        with translated(lambda: progress.phase):
            return decoded(progress), None
    except EgressError as error:
        return packed, error.failure


def _failure(told: Mapping[str, Any] | None) -> Failure | None:
    if told is None:
        return None
    chain = tuple((str(name)[:200], str(text)[:MAX_SHOWN]) for name, text in told["chain"][:MAX_CHAIN])
    number = told["errno"]
    return Failure(
        FailureKind(told["kind"]),
        str(told["message"])[:MAX_SHOWN],
        Phase(told["phase"]),
        number if isinstance(number, int) else None,
        chain,
    )


def _certificate(der: bytes, version: str) -> Certificate | None:
    """None when it cannot be read, as where the worker asks."""
    try:
        return read_certificate(der, version) if der else None
    except ValueError:
        return None


def _timings(told: Mapping[str, Any]) -> Timings:
    known = {f"{phase}_ms" for phase in Phase if phase is not Phase.BUILD}
    return Timings(**{name: float(value) for name, value in told.items() if name in known})


def _context(told: Mapping[str, Any]) -> dict[str, object]:
    """What of the host's environment bears on the exchange, in the words that verdicts know."""
    env = {str(name)[:100]: str(value)[:MAX_SHOWN] for name, value in told["environment"].items()}
    facts = {"env": env, "by_variable": str(told["proxy_variable"])[:100], "direct_probe": told.get("direct")}
    return {name: value for name, value in facts.items() if value}
