"""One exchange from a host: what a client there would see, as the worker's own evidence tells it."""

from __future__ import annotations

import ast
import asyncio
import socket
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from checks.egress import Exchange, carried_by, evidence_of, exchange, reach
from checks.hosts import GroundLost, LocalGround
from checks.hosts.carrier import HostCarrier
from checks.hosts.ground import source_of
from checks.outcome import FailureKind, Phase
from checks.reason import Reason
from checks.spec import Recipe
from checks.verdict import classify
from tests.checks.conftest import MadeCertificate, Serve
from tests.checks.hosts.places import host_of_tests, tunnelling
from tests.checks.local import HEALTHY, KEY, NOWHERE, answering, head

WORD = "a-word-for-the-proxy"


def asked(url: str, *, deadline: float = 10.0, ca_file: str | None = None, **environment: str) -> Exchange:
    """GET a page from a host with this environment."""
    carrier = carrier_in(environment)

    async def ask() -> Exchange:
        with carried_by(carrier):
            return await exchange(
                "GET",
                url,
                policy=NOWHERE,
                deadline=deadline,
                headers={"authorization": f"Bearer {KEY}"},
                ca_file=ca_file,
            )

    return asyncio.run(ask())


def carrier_in(environment: dict[str, str], recipe: Recipe | None = None) -> HostCarrier:
    return HostCarrier(LocalGround(extra=tuple(environment.items())), host_of_tests(), recipe, "run-1")


def named(got: Exchange) -> Reason:
    return classify(evidence_of(got)).reason


@pytest.mark.parametrize("program", ["reach", "surroundings"])
def test_the_program_is_python_3_8(program: str) -> None:
    ast.parse(source_of(program), feature_version=(3, 8))


def test_an_answer_is_told_whole(serve: Serve) -> None:
    got = asked(serve(answering(201, {"a": "é"}, x_one="1")).base_url)
    assert (got.status, got.header("x-one"), got.body.decode()) == (201, "1", '{"a": "\\u00e9"}')
    assert (got.addresses, got.failure) == (("127.0.0.1",), None)
    assert all(part is not None for part in (got.timings.dns_ms, got.timings.connect_ms, got.timings.wait_ms))


def test_a_large_answer_is_cut_at_the_cap(serve: Serve) -> None:
    got = asked(serve(answering(200, b"x" * (1 << 20) + b"y")).base_url)
    assert got.failure is not None
    assert got.failure.kind is FailureKind.TOO_LARGE


def test_a_redirect_is_not_followed(serve: Serve) -> None:
    there = serve(HEALTHY)
    assert asked(serve(answering(307, "", location=there.base_url)).base_url).status == 307
    assert there.seen == []


def test_a_silent_server_is_left_at_the_deadline(serve: Serve) -> None:
    got = asked(serve(lambda line, sent: time.sleep(20)).base_url, deadline=1.0)
    assert got.failure is not None
    assert (got.failure.kind, got.failure.phase) == (FailureKind.TIMEOUT, Phase.WAIT)
    assert named(got) is Reason.REQUEST_TIMEOUT


def test_a_trickling_server_is_left_at_the_deadline(serve: Serve) -> None:
    def trickle(line: socket.socket, sent: bytes) -> None:
        line.sendall(head(200, 1000))
        for _ in range(100):
            line.sendall(b" ")
            time.sleep(0.1)

    got = asked(serve(trickle).base_url, deadline=1.5)
    assert got.failure is not None
    assert (got.status, got.failure.kind) == (200, FailureKind.TIMEOUT)


def test_an_answer_that_breaks_off_is_no_answer(serve: Serve) -> None:
    got = asked(serve(lambda line, sent: line.sendall(head(200, 1000) + b"{")).base_url)
    assert named(got) is Reason.STREAM_TRUNCATED


def test_what_is_not_http_shows_its_first_bytes(serve: Serve) -> None:
    got = asked(serve(lambda line, sent: line.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")).base_url)
    assert got.failure is not None
    assert got.failure.kind is FailureKind.PROTOCOL
    assert got.body.startswith(b"SSH-2.0")


def test_an_untrusted_certificate_is_shown(
    serve: Serve, make_certificate: Callable[..., MadeCertificate]
) -> None:
    got = asked(serve(HEALTHY, tls=make_certificate().context).base_url)
    assert got.certificate is not None
    assert "relay.example" in got.certificate.subject
    assert named(got) is Reason.TLS_UNTRUSTED_CA


def test_the_lanes_own_authority_is_trusted_there(
    serve: Serve, make_certificate: Callable[..., MadeCertificate]
) -> None:
    made = make_certificate()
    got = asked(serve(HEALTHY, tls=made.context).base_url + "/models", ca_file=str(made.path))
    assert got.status == 200
    assert got.certificate is not None
    assert got.certificate.tls_version == "TLSv1.3"


def test_the_file_that_the_environment_trusts_is_trusted(
    serve: Serve, make_certificate: Callable[..., MadeCertificate]
) -> None:
    made = make_certificate()
    url = serve(HEALTHY, tls=made.context).base_url + "/models"
    assert asked(url, SSL_CERT_FILE=str(made.path)).status == 200


def test_a_proxy_of_the_environment_is_gone_through(serve: Serve) -> None:
    proxy = serve(HEALTHY)
    got = asked("http://models.example/v1/models", HTTP_PROXY=proxy.base_url)
    assert got.status == 200
    assert proxy.seen[0].startswith(b"GET http://models.example/v1/models HTTP/1.1")
    assert got.peer == f"127.0.0.1:{proxy.port}"


def test_a_tunnel_is_asked_for_https(serve: Serve, make_certificate: Callable[..., MadeCertificate]) -> None:
    made = make_certificate(names=("models.example",))
    proxy = serve(tunnelling(serve(HEALTHY, tls=made.context).port))
    got = asked("https://models.example/v1/models", ca_file=str(made.path), ALL_PROXY=proxy.base_url)
    assert (got.status, got.failure) == (200, None)


def test_a_tunnel_that_is_refused_is_the_proxys_fault(serve: Serve) -> None:
    proxy = serve(answering(403, "no"))
    got = asked("https://models.example/v1", HTTPS_PROXY=proxy.base_url)
    assert named(got) is Reason.PROXY_UNREACHABLE


def test_a_proxy_that_wants_a_login_is_named(serve: Serve) -> None:
    proxy = serve(answering(407, ""))
    assert named(asked("http://models.example/v1", HTTP_PROXY=proxy.base_url)) is Reason.PROXY_AUTH_REQUIRED


def test_a_proxys_password_is_used_and_never_told(serve: Serve) -> None:
    proxy = serve(HEALTHY)
    got = asked("http://models.example/v1/models", HTTP_PROXY=f"http://me:{WORD}@127.0.0.1:{proxy.port}")
    assert b"proxy-authorization: Basic " in proxy.seen[0]
    assert got.context["env"] == {"HTTP_PROXY": f"http://127.0.0.1:{proxy.port}"}
    assert WORD not in repr(got.context)


def test_a_dead_proxy_is_named() -> None:
    assert (
        named(asked("http://models.example/v1", http_proxy="http://127.0.0.1:9")) is Reason.PROXY_UNREACHABLE
    )


def test_a_proxy_of_another_kind_is_named() -> None:
    got = asked("http://models.example/v1", ALL_PROXY="socks5://127.0.0.1:9")
    assert named(got) is Reason.PROXY_SCHEME_UNSUPPORTED


def test_a_start_file_of_the_shell_sets_the_proxy(serve: Serve, tmp_path: Path) -> None:
    proxy = serve(HEALTHY)
    (tmp_path / ".profile").write_text(f"echo hello\nexport http_proxy={proxy.base_url}\n")
    assert asked("http://models.example/v1/models", HOME=str(tmp_path)).status == 200


def test_a_shell_that_hangs_is_not_waited_for(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / ".profile").write_text("sleep 60\n")
    assert asked(serve(HEALTHY).base_url + "/models", HOME=str(tmp_path)).status == 200


@pytest.mark.parametrize("host", ["169.254.169.254", "[::ffff:169.254.169.254]", "2852039166"])
def test_metadata_is_refused_however_it_is_spelled(host: str) -> None:
    got = asked(f"http://{host}/v1")
    assert got.failure is not None
    assert got.failure.kind is FailureKind.DENIED


@pytest.mark.parametrize("url", ["ftp://models.example/v1", "http://", "http://me:word@models.example/v1"])
def test_what_is_no_url_of_a_server_is_not_asked(url: str) -> None:
    got = asked(url)
    assert got.failure is not None
    assert got.failure.kind is FailureKind.PROTOCOL


def test_a_key_that_no_header_can_carry_is_not_quoted(serve: Serve) -> None:
    carrier = carrier_in({})

    async def ask() -> Exchange:
        with carried_by(carrier):
            wrong = {"authorization": f"Bearer {KEY}\n{WORD}"}
            return await exchange("GET", serve(HEALTHY).base_url, policy=NOWHERE, deadline=5, headers=wrong)

    got = asyncio.run(ask())
    assert got.failure is not None
    assert KEY not in repr(got.failure)
    assert WORD not in repr(got.failure)


def test_a_lost_ground_fails_at_once_and_is_remembered() -> None:
    async def lose(*args: Any, **more: Any) -> Any:
        raise GroundLost(Reason.HOST_DISCONNECTED, {})

    carrier = HostCarrier(SimpleNamespace(name="gpu-1", run=lose), host_of_tests(), None, "run-1")

    async def ask() -> Exchange:
        with carried_by(carrier):
            return await reach("http://127.0.0.1:9/v1", policy=NOWHERE, deadline=5)

    assert asyncio.run(ask()).failure is not None
    assert carrier.lost is not None


def test_what_our_program_would_not_tell_loses_the_ground() -> None:
    async def lie(*args: Any, **more: Any) -> Any:
        return {"status": "many", "headers": [], "body": ""}

    carrier = HostCarrier(SimpleNamespace(name="gpu-1", run=lie), host_of_tests(), None, "run-1")

    async def ask() -> Exchange:
        with carried_by(carrier):
            return await reach("http://127.0.0.1:9/v1", policy=NOWHERE, deadline=5)

    asyncio.run(ask())
    assert carrier.lost is not None
    assert carrier.lost.reason is Reason.HOST_DISCONNECTED


PROXIES = [
    {"HTTP_PROXY": "http://p:1"},
    {"HTTP_PROXY": "p:1", "http_proxy": "http://q:2"},
    {"HTTP_PROXY": "http://p:1", "http_proxy": ""},
    {"https_proxy": "http://p:1"},
    {"ALL_PROXY": "http://p:1"},
    {"ALL_PROXY": "http://p:1", "HTTP_PROXY": "http://q:2"},
]
EXCEPTIONS = [
    *("", "*", "localhost", "127.0.0.1", "10.0.0.0/8", "10.1.2.3", "example.com", ".example.com"),
    *("models.example.com", "example.com:8000", "localhost:8000", "::1", "other, models.example.com"),
]
TARGETS = [
    *("http://127.0.0.1:8000", "http://localhost:8000", "http://10.1.2.3:8000", "http://[::1]:8000"),
    *(
        "http://models.example.com:8000",
        "https://models.example.com",
        "http://example.com",
        "http://notexample.com",
    ),
]


@pytest.mark.parametrize("exceptions", EXCEPTIONS)
@pytest.mark.parametrize("proxies", PROXIES)
def test_the_same_proxy_is_chosen_as_by_httpx(
    monkeypatch: pytest.MonkeyPatch, proxies: dict[str, str], exceptions: str
) -> None:
    environment = {**proxies, "NO_PROXY": exceptions}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    program: dict[str, Any] = {"start": None, "MARK": ""}
    exec(source_of("reach").removesuffix("serve(main)\n"), program)  # noqa: S102 - the program is sent as text
    with httpx.Client() as client:
        for target in TARGETS:
            url = httpx.URL(target)
            port = url.port or {"http": 80, "https": 443}[url.scheme]
            mine = program["proxy_for"](url.scheme, url.host, port, environment)
            theirs = client._transport_for_url(url)
            assert (mine is None) == (theirs is client._transport), (target, mine)
            if mine is not None:
                assert (
                    mine[1]
                    == f"http://{theirs._pool._proxy_url.host.decode()}:{theirs._pool._proxy_url.port}"
                )  # type: ignore[attr-defined]
