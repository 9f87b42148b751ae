"""Connections that are refused, never come about, or are cut."""

from __future__ import annotations

import re

from checks.outcome import FailureKind, Phase
from checks.reason import Reason
from checks.verdict.rules import Rule, failing
from checks.verdict.view import View, is_loopback, parse_url

# The forms in which libraries print the address they dialled: Node, Go, Rust, aiohttp, urllib3, asyncio.
_ADDRESS = re.compile(
    r"(?:econnrefused|dial tcp|connect to|connection to|connect call failed|connecting to"
    r"|failed to connect to|to host)"
    r"\s{0,2}\(?'?\[?(?P<host>[\w.-]+|[0-9a-f:]{2,39}(?=\]))\]?'?(?::|,\s|\sport\s)\s?(?P<port>\d{1,5})"
)
_POOL = re.compile(r"host='(?P<host>[^']{1,255})', port=(?P<port>\d{1,5})")
_REFUSED = re.compile(
    r"econnrefused|connection refused|actively refused|\b10061\b|connect call failed"
    r"|refused to connect|os error 111"
    r"|\berrno (?:111|61)\b|err_connection_refused|积极拒绝|连接被拒绝|拒绝连接"
)
_REFUSED_NUMBERS = (111, 61, 10061)
# Cut or unroutable while connecting: not a refusal, whatever the kind says.
_OTHER_NUMBERS = (104, 54, 10054, 113, 101, 65, 51, 110, 60)
_STARTING = re.compile(r"running|starting|alive|loading|started|spawned|launch|up\b")
# Ports on which desktop proxies listen by default (Clash, V2Ray, Shadowsocks, Privoxy, Squid, Burp).
PROXY_PORTS = frozenset(
    (
        7890,
        7891,
        7892,
        7893,
        7897,
        1080,
        1081,
        1082,
        1086,
        1087,
        8118,
        8889,
        3128,
        10808,
        10809,
        20170,
        20171,
        33210,
        6152,
        2080,
        2081,
    )
)


def dialled(view: View) -> tuple[str, int | None]:
    """The address that was really tried: the peer if known, else what the texts name; else ("", None)."""
    if view.evidence.peer:
        peer = (
            parse_url("tcp://" + view.evidence.peer)
            if "://" not in view.evidence.peer
            else parse_url(view.evidence.peer)
        )
        if peer.host:
            return peer.host, peer.port
    match = _ADDRESS.search(view.failure_text) or _POOL.search(view.failure_text)
    return (match["host"], int(match["port"])) if match else ("", None)


def was_refused(view: View) -> bool:
    """Whether the connection was refused, by kind, number or words."""
    failure = view.evidence.failure
    if failure is None:
        return False
    if failure.errno in _OTHER_NUMBERS:
        return False
    if failure.kind is FailureKind.REFUSED or failure.errno in _REFUSED_NUMBERS:
        return True
    return failure.kind not in (FailureKind.DNS, FailureKind.TLS) and bool(_REFUSED.search(view.failure_text))


def refused(view: View) -> Reason | None:
    """Refused: by whom, and is the server only late?"""
    if not was_refused(view):
        return None
    if _is_starting(view):
        return Reason.SERVER_NOT_READY
    host, _ = dialled(view)
    local = is_loopback(view.url.host or host)
    if local and view.in_container and view.flag("reachable_from_host") is not False:
        return Reason.CONTAINER_LOOPBACK
    return Reason.CONNECTION_REFUSED_LOOPBACK if local else Reason.CONNECTION_REFUSED_REMOTE


def _is_starting(view: View) -> bool:
    """Whether the process is known to exist, or was started a moment ago."""
    since = view.number("elapsed_since_start_s", "since_start_s", "uptime_s")
    if since is not None and since < 1800:
        return True
    return bool(_STARTING.search(view.words("server_process", "process", "server_state")))


_RESET_IN_BODY = (
    r"incomplete chunked read|without sending complete message body|premature close|ended prematurely"
    r"|incompleteread"
    r"|chunkedencodingerror|transferencodingerror|clientpayloaderror|payload is not completed"
    r"|stream_premature_close"
    r"|invalid chunk|unexpected eof while reading|response body (?:closed|aborted)"
    r"|unexpected end of (?:file|stream)"
    r"|stream (?:ended|closed|disconnected) (?:before|without|unexpectedly)|curl: \(18\)|transfer closed with"
)
cut_in_body = failing(Reason.STREAM_TRUNCATED, _RESET_IN_BODY)

_CONNECT_TIMEOUT = re.compile(
    r"connecttimeout|connect timeout|connection timed? ?out|connection to .{1,120} timed out|etimedout"
    r"|\b10060\b"
    r"|und_err_connect_timeout|dial tcp .{0,80}i/o timeout|timed? ?out.{0,30}connect|err_connection_timed_out"
    r"|failed to connect .{0,120}(?:timed out|timeout)|curl: \(28\) (?:failed to connect|connection timed)"
    r"|\berrno (?:110|60)\b|handshake timed out|no route to host|network is unreachable|ehostunreach"
    r"|enetunreach"
    r"|semaphore timeout|connection attempt failed because|连接超时|没有正确答复"
)
_READ_TIMEOUT = re.compile(
    r"readtimeout|read timed? ?out|read operation timed out|pooltimeout|pool timeout|awaiting headers"
    r"|headers_timeout|headers timeout"
    r"|body_timeout|body timeout|sock_read|total_timeout|apitimeout|request timed out|request timeout"
    r"|deadline exceeded"
    r"|writetimeout|with 0 bytes received|operation timed out after|timeout of \d+ ?ms exceeded"
    r"|aborted due to timeout|响应超时|请求超时|读取超时"
)


def timed_out(view: View) -> Reason | None:
    """Time ran out: before the connection stood, or while the server was at work?"""
    failure = view.evidence.failure
    if failure is None:
        return None
    if failure.kind is FailureKind.TIMEOUT and failure.phase in (Phase.CONNECT, Phase.TLS, Phase.DNS):
        return Reason.CONNECT_TIMEOUT
    if failure.kind is FailureKind.TIMEOUT and failure.phase in (Phase.WAIT, Phase.TRANSFER):
        return Reason.REQUEST_TIMEOUT
    if _CONNECT_TIMEOUT.search(view.failure_text):
        return Reason.CONNECT_TIMEOUT
    if failure.kind is FailureKind.TIMEOUT or _READ_TIMEOUT.search(view.failure_text):
        return _silent(view)
    return None


def _silent(view: View) -> Reason:
    """An unspecific time-out: facts on the way to the server decide."""
    unrouted = view.url.host == "0.0.0.0" or (view.in_container and bool(view.words("host_proxy")))  # noqa: S104
    if unrouted or "timeout" in view.words("tcp_probe"):
        return Reason.CONNECT_TIMEOUT
    return Reason.REQUEST_TIMEOUT


cut = failing(
    Reason.CONNECTION_RESET,
    r"econnreset|connection reset|remotedisconnected|server disconnected|remote end closed|10054"
    r"|\berrno (?:104|54|32)\b"
    r"|forcibly closed|socket hang up|connection (?:was )?aborted|broken pipe|epipe|eof occurred"
    r"|unexpected eof|\beof$"
    r"|ssl_error_syscall|empty reply from server|connection closed|other side closed|err_connection_closed"
    r"|err_empty_response|connection (?:was )?(?:lost|dropped|terminated)|goaway|远程主机强迫关闭"
    r"|连接被重置|连接已重置",
)


def cut_in_transfer(view: View) -> Reason | None:
    """The head of the answer came, the rest did not."""
    failure = view.evidence.failure
    late = failure is not None and failure.phase is Phase.TRANSFER and failure.kind is FailureKind.RESET
    return Reason.STREAM_TRUNCATED if late else None


def died_reset(view: View) -> Reason | None:
    """Any other cut."""
    return Reason.CONNECTION_RESET if view.kind is FailureKind.RESET else None


FAILURES: tuple[Rule, ...] = (cut_in_body, cut_in_transfer, refused, timed_out, cut, died_reset)
