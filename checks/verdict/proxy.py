"""Proxies in the way: asked by mistake, missing, locked, or a local router whose own call failed."""

from __future__ import annotations

import re

from checks.outcome import FailureKind
from checks.reason import Reason
from checks.verdict import tcp
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, failing
from checks.verdict.view import View, is_loopback

scheme = failing(
    Reason.PROXY_SCHEME_UNSUPPORTED,
    r"unknown scheme for proxy|socksio|dependencies for socks|unsupported proxy|proxy url had"
    r"|unable to determine socks"
    r"|invalid proxy (?:url|scheme|protocol)|pysocks|(?:proxy|socks).{0,60}(?:scheme"
    r"|protocol).{0,40}(?:support|unknown|invalid)"
    r"|(?:unsupported|unknown|invalid) (?:scheme|protocol).{0,40}(?:socks|proxy)|socks (?:proxy"
    r"|support).{0,60}(?:not|install|missing)"
    r"|socks5h?://.{0,80}(?:not supported|unsupported)|python-socks|不支持.{0,10}socks|invalid port: ':1\]'",
)
locked = failing(
    Reason.PROXY_AUTH_REQUIRED,
    r"\b407\b|proxy authentication required|proxy-authenticate|proxy requires authentication"
    r"|代理.{0,6}(?:认证|验证)",
)
_PROXY_WORDS = re.compile(
    r"proxyerror|cannot connect to proxy|unable to connect to proxy|proxyconnect|proxy connection"
    r"|connect to proxy"
    r"|tunneling socket|err_proxy|resolve proxy|tunnel connection failed|connect tunnel failed"
    r"|clientproxyconnectionerror"
    r"|clienthttpproxyerror|proxy (?:server )?(?:refused|unreachable|timed out|is down)|proxy connect aborted"
    r"|error (?:occurred )?(?:while )?connecting (?:to|via) (?:the )?(?:socks|proxy)"
    r"|socks.{0,40}(?:refused|unreachable|failed)"
    r"|代理.{0,10}(?:连接失败|无法连接|不可用|拒绝)"
)
_UNREACHED = re.compile(r"refused|timed? ?out|unreachable|failed|resolve|proxy")


def unreachable(view: View) -> Reason | None:
    """The proxy itself is not there; the address that was tried is the proxy's."""
    if view.evidence.failure is None:
        return None
    if _PROXY_WORDS.search(view.failure_text):
        return Reason.PROXY_UNREACHABLE
    if not tcp.was_refused(view):
        return None
    host, port = tcp.dialled(view)
    if not host or (_same(host, view.url.host) and port in (view.url.port, None)):
        return None
    if any(
        _same(host, at) and (port is None or at_port in (None, port)) for at, at_port in view.proxies if at
    ):
        return Reason.PROXY_UNREACHABLE
    foreign = is_loopback(host) and not view.to_lan and not view.evidence.addresses
    return Reason.PROXY_UNREACHABLE if foreign and port in tcp.PROXY_PORTS else None


def died_at_proxy(view: View) -> Reason | None:
    """A failure at a proxy of which no more is told: on the way to one's own machine it is in the way."""
    if view.kind is not FailureKind.PROXY:
        return None
    return Reason.PROXY_ENV_INTERCEPTS_LOOPBACK if view.to_lan else Reason.PROXY_UNREACHABLE


def fine_without(view: View) -> Reason | None:
    """The same request to one's own machine works without the proxy."""
    if view.evidence.failure is None or not view.to_lan or not view.proxies:
        return None
    return Reason.PROXY_ENV_INTERCEPTS_LOOPBACK if _fine_without_proxy(view) else None


def _same(one: str, other: str) -> bool:
    return one == other or (is_loopback(one) and is_loopback(other))


FAILURES: tuple[Rule, ...] = (scheme, locked, fine_without, unreachable)
FAILURES_LATE: tuple[Rule, ...] = (died_at_proxy,)

_FINGERPRINT_HEADERS = (
    "x-squid-error",
    "proxy-connection",
    "x-cache-lookup",
    "x-proxy-error",
    "proxy-status",
    "proxy-agent",
)
_FINGERPRINT_WORDS = re.compile(
    r"squid|privoxy|tinyproxy|\bclash\b|v2ray|mitmproxy|charles|fiddler|blue ?coat|zscaler|forcepoint"
    r"|mcafee web gateway"
    r"|err_connect_fail|err_cannot_forward|proxy server|web proxy|cache ?administrator|proxy error"
    r"|via your proxy|代理服务器"
)
_INTERCEPT_STATUSES = frozenset((400, 403, 404, 500, 502, 503, 504))
_NO_TRACE = re.compile(r"no (?:request|trace|entry|log|line)|empty|nothing|not? received|没有")
_ROUTER = re.compile(
    r"local[ _-]?proxy (?:request )?(?:failed|error)|cc[- _]?switch|claude[- _]code[- _]router|local router"
    r"|no (?:available|healthy|usable) providers?|all providers (?:failed|are)|circuit.{0,20}open"
    r"|forward(?:ing)?[ _](?:request )?failed"
    r"|failed to forward|upstream (?:request|provider|call) (?:failed|error|timeout)"
    r"|provider (?:request )?failed|熔断|转发失败|本地代理"
)
_ROUTER_FIELDS = re.compile(
    r"\"(?:upstream_?status|upstream_?error|upstream_?body|provider_?name|circuit|cause|attempts"
    r"|failover)\"\s{0,3}:"
)


def asked_for_login(view: View) -> Reason | None:
    """407, or the proxy's own header."""
    locked_out = view.status == 407 or "proxy-authenticate" in view.answer.headers
    return Reason.PROXY_AUTH_REQUIRED if locked_out else None


def intercepted(view: View) -> Reason | None:
    """A request for one's own machine that something else answered."""
    if not view.to_lan or view.status not in _INTERCEPT_STATUSES:
        return None
    if _NO_TRACE.search(view.words("server_log", "router_log")) or _fine_without_proxy(view):
        return Reason.PROXY_ENV_INTERCEPTS_LOOPBACK
    if view.answer.is_json:
        return None
    if has_fingerprint(view) or _peer_is_proxy(view):
        return Reason.PROXY_ENV_INTERCEPTS_LOOPBACK
    if view.status not in (502, 503, 504, 403, 500):
        return None
    if view.proxies and not view.bypasses_proxy:
        return Reason.PROXY_ENV_INTERCEPTS_LOOPBACK
    # Nothing on loopback answers 502 to 504 with an empty body of its own accord.
    bare = view.answer.form is Form.EMPTY and view.status != 500 and "server" not in view.answer.headers
    return Reason.PROXY_ENV_INTERCEPTS_LOOPBACK if view.to_loopback and bare else None


def has_fingerprint(view: View) -> bool:
    """Whether headers or page carry the marks of a forward proxy."""
    headers = view.answer.headers
    if any(name in headers for name in _FINGERPRINT_HEADERS):
        return True
    if view.to_lan and "via" in headers:
        return True
    return bool(_FINGERPRINT_WORDS.search(headers.get("server", "").lower() + " " + view.answer.said[:2000]))


def _fine_without_proxy(view: View) -> bool:
    probe = view.words("direct_probe", "probe_without_proxy", "no_proxy_probe", "curl_probe")
    return bool(re.search(r"\b200\b|\bok\b", probe)) and (bool(view.proxies) or "proxy" in probe)


def _peer_is_proxy(view: View) -> bool:
    host, port = tcp.dialled(view) if view.evidence.peer else ("", None)
    return any(at and _same(host, at) and at_port == port for at, at_port in view.proxies) if host else False


def router_failed(view: View) -> Reason | None:
    """A local router is up and says that its own call failed (CC Switch and kin)."""
    if (view.status or 0) < 400:
        return None
    named = _ROUTER.search(view.answer.said)
    if named and ("local" in named.group() or "switch" in named.group() or "router" in named.group()):
        return Reason.LOCAL_PROXY_UPSTREAM_FAILED
    if not view.to_loopback or (view.status or 0) < 500:
        return None
    told = named or _ROUTER_FIELDS.search(view.answer.text[:8192].lower())
    return Reason.LOCAL_PROXY_UPSTREAM_FAILED if told else None


ANSWERS: tuple[Rule, ...] = (asked_for_login, intercepted, router_failed)
