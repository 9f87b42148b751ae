"""Certificates: trusted, refused, read all the same; and the wrong kind of talk on a port."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st

from checks.egress import Exchange, exchange, reach
from checks.egress.certificates import read_certificate
from checks.egress.trust import trusting
from checks.outcome import FailureKind, Phase
from tests.checks.conftest import MadeCertificate, Serve
from tests.checks.local import LOOPBACK, LocalServer, answering

Make = Callable[..., MadeCertificate]


def ask(server: LocalServer, **options: Any) -> Exchange:
    known: dict[str, Any] = {"policy": LOOPBACK, "deadline": 5.0}
    return asyncio.run(exchange("GET", server.base_url, **{**known, **options}))


def test_a_certificate_of_a_listed_ca_is_trusted(serve: Serve, make_certificate: Make) -> None:
    made = make_certificate()
    got = ask(serve(answering(200, {}), tls=made.context), ca_file=str(made.path))
    assert (got.status, got.failure) == (200, None)
    assert got.timings.tls_ms is not None
    assert got.certificate is not None
    assert got.certificate.tls_version == "TLSv1.3"


def test_a_self_signed_certificate_is_refused_and_shown(serve: Serve, make_certificate: Make) -> None:
    server = serve(answering(200, {}), tls=make_certificate().context)
    got = ask(server)
    assert got.failure is not None
    assert (got.failure.kind, got.failure.phase) == (FailureKind.TLS, Phase.TLS)
    assert "self-signed" in got.failure.message
    assert got.certificate is not None
    assert got.certificate.subject == "O=Rehearsal, CN=relay.example"
    assert server.seen == []


def test_an_expired_certificate_is_refused_with_its_dates(serve: Serve, make_certificate: Make) -> None:
    made = make_certificate(days=-2)
    got = ask(serve(answering(200, {}), tls=made.context), ca_file=str(made.path))
    assert got.failure is not None
    assert "expired" in got.failure.message
    assert got.certificate is not None
    assert got.certificate.not_after is not None
    assert got.certificate.not_after < datetime.now(UTC)


def test_a_certificate_for_another_name_is_refused(serve: Serve, make_certificate: Make) -> None:
    made = make_certificate(names=("other.example",))
    got = ask(serve(answering(200, {}), tls=made.context), ca_file=str(made.path))
    assert got.failure is not None
    assert "not valid for '127.0.0.1'" in got.failure.message
    assert got.certificate is not None
    assert got.certificate.names == ("other.example",)


def test_the_second_look_is_bound_by_the_deadline(serve: Serve, make_certificate: Make) -> None:
    server = serve(answering(200, {}), tls=make_certificate().context)
    got = asyncio.run(reach(server.base_url, policy=LOOPBACK, deadline=2.0))
    assert got.failure is not None
    assert got.timings.total_ms < 2000


def test_tls_to_a_plain_port_fails_in_the_handshake(serve: Serve) -> None:
    server = serve(answering(400, "Bad Request"))
    server.scheme = "https"
    got = ask(server)
    assert got.failure is not None
    assert got.failure.phase is Phase.TLS
    assert "WRONG_VERSION_NUMBER" in got.failure.message


def test_plain_talk_to_a_tls_port_shows_the_alert(serve: Serve, make_certificate: Make) -> None:
    server = serve(answering(200, {}), tls=make_certificate().context)
    server.scheme = "http"
    got = ask(server)
    assert got.failure is not None
    assert got.failure.kind in (FailureKind.PROTOCOL, FailureKind.RESET)


def test_a_server_that_never_shakes_hands_meets_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = LocalServer(silent.getsockname()[1], "https")
        got = ask(server, deadline=0.3)
    assert got.failure is not None
    assert (got.failure.kind, got.failure.phase) == (FailureKind.TIMEOUT, Phase.TLS)


@pytest.mark.parametrize("content", [None, b"", b"not a certificate"])
def test_an_unusable_ca_file_is_our_fault_before_any_connection(
    serve: Serve, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    server = serve(answering(200, {}))
    server.scheme = "https"
    got = ask(server, ca_file=str(path))
    assert got.failure is not None
    assert got.failure.phase is Phase.BUILD
    assert got.timings.connect_ms is None


def test_contexts_are_built_once_for_each_trust_setting(make_certificate: Make) -> None:
    path = str(make_certificate().path)
    assert trusting(path) is trusting(path)
    assert trusting(None) is trusting(None)
    assert trusting(path) is not trusting(None)


def test_the_reader_agrees_with_a_full_parser(make_certificate: Make) -> None:
    der = make_certificate(names=("localhost", "*.relay.example", "::1")).der
    read, full = read_certificate(der), x509.load_der_x509_certificate(der)
    assert (read.not_before, read.not_after) == (full.not_valid_before_utc, full.not_valid_after_utc)
    assert read.names == ("localhost", "*.relay.example", "::1")
    assert read.issuer == "O=Rehearsal, CN=relay.example"


def test_dates_after_2049_are_read(make_certificate: Make) -> None:
    ends = read_certificate(make_certificate(days=365 * 40).der).not_after
    assert ends is not None
    assert ends > datetime.now(UTC) + timedelta(days=365 * 39)


@given(st.binary(max_size=300))
def test_bytes_that_are_no_certificate_are_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the contract is any ValueError
        read_certificate(data)


@given(position=st.integers(0, 10_000), value=st.integers(0, 255))
def test_a_damaged_certificate_is_read_or_a_value_error(
    make_certificate: Make, position: int, value: int
) -> None:
    der = bytearray(make_certificate().der)
    der[position % len(der)] = value
    try:
        read_certificate(bytes(der))
    except ValueError:
        return
