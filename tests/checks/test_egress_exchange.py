"""One request over a judged connection: answers, caps, deadlines, and servers that misbehave."""

from __future__ import annotations

import asyncio
import gzip
import socket
import time
import zlib
from typing import Any

import pytest

from checks.egress import Exchange, evidence_of, exchange
from checks.egress.wire import MAX_BODY_BYTES, MAX_HEADERS
from checks.outcome import Failure, FailureKind, Phase
from tests.checks.conftest import Serve
from tests.checks.local import KEY, LOOPBACK, NOWHERE, Behaviour, LocalServer, answering, head


def ask(server: LocalServer, **options: Any) -> Exchange:
    return ask_url(server.base_url + "/models", **options)


def ask_url(url: str, **options: Any) -> Exchange:
    known: dict[str, Any] = {"policy": LOOPBACK, "deadline": 5.0}
    return asyncio.run(exchange("GET", url, **{**known, **options}))


def failure(got: Exchange) -> Failure:
    assert got.failure is not None, got
    return got.failure


def sending(*parts: bytes, pause: float = 0.0) -> Behaviour:
    def behave(connection: socket.socket, request: bytes) -> None:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)

    return behave


def test_an_answer_comes_with_status_headers_body_peer_and_phases(serve: Serve) -> None:
    server = serve(answering(200, {"ok": True}, x_request_id="r1"))
    got = ask(server)
    assert (got.status, got.body, got.header("x-request-id")) == (200, b'{"ok": true}', "r1")
    assert got.peer == f"127.0.0.1:{server.port}"
    assert got.addresses == ("127.0.0.1",)
    phases = got.timings
    assert None not in (phases.dns_ms, phases.connect_ms, phases.wait_ms, phases.transfer_ms)
    assert phases.tls_ms is None


def test_the_request_closes_its_connection_and_names_the_host(serve: Serve) -> None:
    server = serve(answering(200, {}))
    ask(server, headers={"authorization": "Bearer x"})
    sent = server.seen[0].lower()
    assert b"connection: close" in sent
    assert f"host: 127.0.0.1:{server.port}".encode() in sent
    assert b"authorization: bearer x" in sent


def test_waiting_is_told_apart_from_transfer(serve: Serve) -> None:
    def behave(connection: socket.socket, request: bytes) -> None:
        time.sleep(0.2)
        connection.sendall(head(200, 2) + b"{")
        time.sleep(0.1)
        connection.sendall(b"}")

    timings = ask(serve(behave)).timings
    assert timings.wait_ms is not None
    assert timings.wait_ms >= 190
    assert timings.transfer_ms is not None
    assert timings.transfer_ms >= 90


def test_ipv6_loopback_is_reached(serve: Serve) -> None:
    server = serve(answering(200, {}), family=socket.AF_INET6)
    assert ask(server).peer == f"[::1]:{server.port}"


def test_a_proxy_in_the_environment_is_not_used(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert ask(serve(answering(200, {}))).status == 200


def test_a_closed_port_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    died = failure(ask_url(f"http://127.0.0.1:{port}/v1"))
    assert (died.kind, died.phase, died.errno) == (FailureKind.REFUSED, Phase.CONNECT, 111)


def test_a_dead_name_fails_in_dns() -> None:
    died = failure(ask_url("http://no-such-relay.invalid/v1"))
    assert (died.kind, died.phase) == (FailureKind.DNS, Phase.DNS)


@pytest.mark.parametrize("url", ["http://a..b/v1", f"http://{'a' * 64}.example/v1"])
def test_a_name_that_cannot_exist_is_a_failure(url: str) -> None:
    assert failure(ask_url(url)).kind in (FailureKind.DNS, FailureKind.PROTOCOL)


def test_a_name_that_leads_to_a_forbidden_address_is_denied(serve: Serve) -> None:
    server = serve(answering(200, {}))
    died = failure(ask_url(f"http://localhost:{server.port}/v1", policy=NOWHERE))
    assert (died.kind, died.phase) == (FailureKind.DENIED, Phase.DNS)
    assert "loopback" in died.message
    assert "operator" in died.message
    assert server.seen == []


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0"])
def test_other_spellings_of_loopback_are_denied_too(host: str) -> None:
    assert failure(ask_url(f"http://{host}:1/v1", policy=NOWHERE)).kind is FailureKind.DENIED


def test_metadata_is_denied_without_a_connection() -> None:
    got = ask_url("http://169.254.169.254/latest/meta-data")
    assert failure(got).kind is FailureKind.DENIED
    assert got.timings.connect_ms is None


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "127.0.0.1:80/v1",
        "http://",
        "http://u:p@127.0.0.1/",
        "http://x:99999/",
    ],
)
def test_what_is_not_a_plain_http_url_is_not_sent(url: str) -> None:
    died = failure(ask_url(url))
    assert (died.kind, died.phase) == (FailureKind.PROTOCOL, Phase.BUILD)


def test_a_redirect_is_reported_and_not_followed(serve: Serve) -> None:
    server = serve(answering(307, "", location="http://169.254.169.254/latest/meta-data"))
    got = ask(server)
    assert (got.status, got.failure) == (307, None)
    assert got.header("location") == "http://169.254.169.254/latest/meta-data"
    assert len(server.seen) == 1


def test_fifty_megabytes_are_cut_at_the_cap_quickly(serve: Serve) -> None:
    server = serve(sending(head(200, 50 * 1024 * 1024), *[b"x" * 1024 * 1024] * 50))
    begun = time.monotonic()
    got = ask(server)
    assert (failure(got).kind, failure(got).phase) == (FailureKind.TOO_LARGE, Phase.TRANSFER)
    assert MAX_BODY_BYTES < len(got.body) <= MAX_BODY_BYTES + 65_536
    assert time.monotonic() - begun < 2


def test_a_gzip_answer_is_unpacked(serve: Serve) -> None:
    got = ask(serve(answering(200, gzip.compress(b'{"a":1}'), content_encoding="gzip")))
    assert got.body == b'{"a":1}'


@pytest.mark.parametrize("window", [15, -15])
def test_both_kinds_of_deflate_are_unpacked(serve: Serve, window: int) -> None:
    packer = zlib.compressobj(wbits=window)
    packed = packer.compress(b"hello") + packer.flush()
    assert ask(serve(answering(200, packed, content_encoding="deflate"))).body == b"hello"


def test_a_gzip_bomb_is_stopped(serve: Serve) -> None:
    bomb = gzip.compress(b"\0" * 64 * 1024 * 1024)
    begun = time.monotonic()
    got = ask(serve(answering(200, bomb, content_encoding="gzip")))
    assert failure(got).kind is FailureKind.TOO_LARGE
    assert time.monotonic() - begun < 2


def test_a_body_that_is_not_the_gzip_it_declares_is_kept_as_it_came(serve: Serve) -> None:
    got = ask(serve(answering(200, b'{"a":1}', content_encoding="gzip")))
    assert failure(got).kind is FailureKind.PROTOCOL
    assert (got.status, got.body) == (200, b'{"a":1}')


def test_a_server_that_drips_a_byte_a_second_meets_the_deadline(serve: Serve) -> None:
    server = serve(sending(head(200, 100), *[b"x"] * 8, pause=1.0))
    begun = time.monotonic()
    got = ask(server, deadline=1.2)
    assert (failure(got).kind, failure(got).phase) == (FailureKind.TIMEOUT, Phase.TRANSFER)
    assert time.monotonic() - begun < 2
    assert got.body.startswith(b"x")


def test_a_server_that_accepts_and_says_nothing_meets_the_deadline(serve: Serve) -> None:
    died = failure(ask(serve(sending(b"", pause=3.0)), deadline=0.3))
    assert (died.kind, died.phase) == (FailureKind.TIMEOUT, Phase.WAIT)


def test_a_flood_of_headers_is_refused(serve: Serve) -> None:
    lines = b"".join(b"x-%d: y\r\n" % number for number in range(MAX_HEADERS + 1))
    died = failure(ask(serve(sending(b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n"))))
    assert died.kind is FailureKind.TOO_LARGE


def test_an_endless_header_is_refused(serve: Serve) -> None:
    died = failure(ask(serve(sending(b"HTTP/1.1 200 OK\r\nx: ", *[b"y" * 65_536] * 20))))
    assert (died.kind, died.phase) == (FailureKind.TOO_LARGE, Phase.WAIT)


def test_interim_answers_without_end_are_refused(serve: Serve) -> None:
    died = failure(ask(serve(sending(b"HTTP/1.1 100 Continue\r\n\r\n" * 100))))
    assert died.kind is FailureKind.PROTOCOL


def test_a_body_in_a_hundred_thousand_chunks_is_refused(serve: Serve) -> None:
    begun = time.monotonic()
    start = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    died = failure(ask(serve(sending(start + b"1\r\nx\r\n" * 100_000))))
    assert died.kind is FailureKind.TOO_LARGE
    assert time.monotonic() - begun < 3


def test_what_is_not_http_is_told_by_its_first_bytes(serve: Serve) -> None:
    got = ask(serve(sending(b"SSH-2.0-OpenSSH_9.6\r\n", pause=2.0)), deadline=1.5)
    assert (failure(got).kind, failure(got).phase) == (FailureKind.PROTOCOL, Phase.WAIT)
    assert "SSH-2.0" in failure(got).message
    assert got.body.startswith(b"SSH-2.0")


def test_a_connection_closed_without_an_answer_is_a_reset(serve: Serve) -> None:
    died = failure(ask(serve(sending(b""))))
    assert (died.kind, died.phase) == (FailureKind.RESET, Phase.WAIT)


def test_a_connection_cut_in_the_body_keeps_status_and_what_came(serve: Serve) -> None:
    got = ask(serve(sending(head(200, 100) + b'{"choices":')))
    assert (failure(got).kind, failure(got).phase) == (FailureKind.PROTOCOL, Phase.TRANSFER)
    assert (got.status, got.body) == (200, b'{"choices":')


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}’", f"{KEY}\0", " "])
def test_a_key_that_fits_no_header_is_not_sent_and_not_shown(serve: Serve, key: str) -> None:
    server = serve(answering(200, {}))
    died = failure(ask(server, headers={"authorization": f"Bearer {key}"}))
    assert (died.kind, died.phase) == (FailureKind.PROTOCOL, Phase.BUILD)
    assert KEY not in repr(died)
    assert server.seen == []


def test_the_repr_of_an_exchange_shows_neither_body_nor_headers(serve: Serve) -> None:
    shown = repr(ask(serve(answering(200, {"echo": KEY}, x_echo=KEY))))
    assert KEY not in shown


def test_evidence_reads_the_declared_charset(serve: Serve) -> None:
    got = ask(serve(answering(200, "令牌".encode("gbk"), "text/plain; charset=GBK")))
    assert evidence_of(got).body == "令牌"


def test_evidence_does_not_keep_cookies(serve: Serve) -> None:
    got = ask(serve(answering(200, {}, set_cookie="session=hunter2")))
    assert "hunter2" not in repr(evidence_of(got))


def test_cancelling_closes_the_connection(serve: Serve) -> None:
    closed: list[bool] = []

    def behave(connection: socket.socket, request: bytes) -> None:
        closed.append(connection.recv(1) == b"")

    server = serve(behave)

    async def give_up() -> None:
        task = asyncio.create_task(exchange("GET", server.base_url, policy=LOOPBACK, deadline=5.0))
        await asyncio.sleep(0.2)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(give_up())
    deadline = time.monotonic() + 2
    while not closed and time.monotonic() < deadline:
        time.sleep(0.01)
    assert closed == [True]
