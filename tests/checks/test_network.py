"""Rung 1: resolve, connect and shake hands, each a step of its own."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from checks import LaneSpec, Outcome, Reason, Rung, Status, Step, run
from tests.checks.conftest import MadeCertificate, Serve
from tests.checks.local import LOOPBACK, NOWHERE, answering

Make = Callable[..., MadeCertificate]
OK, DOWN, NOT_REACHED = Status.OK, Status.DOWN, Status.NOT_REACHED


def steps(outcome: Outcome) -> dict[str, Status]:
    return {step.name: step.status for step in outcome.steps}


def step(outcome: Outcome, name: str) -> Step:
    return next(step for step in outcome.steps if step.name == name)


def lane(base_url: str) -> LaneSpec:
    return LaneSpec("lane-1", base_url, "m", rungs=(Rung.NETWORK,), egress=LOOPBACK, deadline=5.0)


def test_a_plain_server_passes_resolve_and_connect(serve: Serve) -> None:
    server = serve(answering(200, {}))
    outcome = run(server.spec(rungs=(Rung.NETWORK,)))
    assert (outcome.status, outcome.rung, outcome.reason) == (OK, Rung.NETWORK, None)
    assert steps(outcome) == {"resolve": OK, "connect": OK}
    assert step(outcome, "connect").say == {"peer": f"127.0.0.1:{server.port}"}
    assert step(outcome, "connect").duration_ms > 0


def test_the_network_rung_sends_no_request(serve: Serve) -> None:
    server = serve(answering(200, {}))
    run(server.spec(rungs=(Rung.NETWORK,)))
    assert server.seen == []


def test_a_trusted_certificate_passes_with_its_dates(serve: Serve, make_certificate: Make) -> None:
    made = make_certificate(days=90)
    server = serve(answering(200, {}), tls=made.context)
    outcome = run(server.spec(rungs=(Rung.NETWORK,), ca_file=str(made.path)))
    assert steps(outcome) == {"resolve": OK, "connect": OK, "tls": OK}
    say = step(outcome, "tls").say
    assert say["days_left"] == "89"
    assert "expires_soon" not in say


def test_a_certificate_that_expires_soon_is_a_remark_and_no_failure(
    serve: Serve, make_certificate: Make
) -> None:
    made = make_certificate(days=5)
    server = serve(answering(200, {}), tls=made.context)
    outcome = run(server.spec(rungs=(Rung.NETWORK,), ca_file=str(made.path)))
    assert outcome.status is OK
    assert step(outcome, "tls").say["expires_soon"] == "yes"


@pytest.mark.parametrize(
    ("days", "names", "trusted", "reason"),
    [
        (90, ("127.0.0.1",), False, Reason.TLS_UNTRUSTED_CA),
        (-2, ("127.0.0.1",), True, Reason.TLS_EXPIRED),
        (90, ("other.example",), True, Reason.TLS_HOSTNAME_MISMATCH),
    ],
)
def test_a_certificate_that_does_not_convince_is_named_and_shown(
    serve: Serve, make_certificate: Make, days: int, names: tuple[str, ...], trusted: bool, reason: Reason
) -> None:
    made = make_certificate(days=days, names=names)
    server = serve(answering(200, {}), tls=made.context)
    outcome = run(server.spec(rungs=(Rung.NETWORK,), ca_file=str(made.path) if trusted else None))
    assert (outcome.status, outcome.reason) == (DOWN, reason)
    assert steps(outcome) == {"resolve": OK, "connect": OK, "tls": DOWN}
    evidence = step(outcome, "tls").evidence
    assert evidence is not None
    assert evidence.certificate is not None
    assert step(outcome, "tls").say["not_after"] == str(evidence.certificate.not_after).replace(" ", "T")


def test_a_wrong_port_breaks_connect() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    outcome = run(lane(f"http://127.0.0.1:{port}/v1"))
    assert (outcome.status, outcome.reason) == (DOWN, Reason.CONNECTION_REFUSED_LOOPBACK)
    assert steps(outcome) == {"resolve": OK, "connect": DOWN}


def test_a_dead_name_breaks_resolve_and_the_rest_is_not_reached() -> None:
    outcome = run(lane("https://no-such-relay.invalid/v1"))
    assert outcome.status is DOWN
    assert outcome.reason in (Reason.DNS_NXDOMAIN, Reason.DNS_RESOLVER_UNAVAILABLE)
    assert steps(outcome) == {"resolve": DOWN, "connect": NOT_REACHED, "tls": NOT_REACHED}


def test_a_name_that_leads_to_a_forbidden_address_could_not_be_asked(serve: Serve) -> None:
    server = serve(answering(200, {}))
    outcome = run(server.spec(base_url=f"http://localhost:{server.port}/v1", egress=NOWHERE))
    assert (outcome.status, outcome.rung) == (Status.NOT_TESTABLE, Rung.NETWORK)
    assert outcome.reason is Reason.EGRESS_DENIED
    assert steps(outcome)["chat"] is NOT_REACHED
    say = step(outcome, "resolve").say
    assert (say["address"], say["rule"]) == ("127.0.0.1", "loopback")


def test_tls_to_a_plain_port_is_named(serve: Serve) -> None:
    server = serve(answering(400, "Bad Request", "text/plain"))
    server.scheme = "https"
    assert run(server.spec(rungs=(Rung.NETWORK,))).reason is Reason.HTTPS_TO_HTTP_PORT


@pytest.mark.parametrize("url", ["relay.example/v1", "ftp://relay.example", "http://u:hunter2@127.0.0.1/v1"])
def test_a_malformed_address_breaks_resolve(url: str) -> None:
    outcome = run(lane(url))
    assert (outcome.status, outcome.reason) == (DOWN, Reason.BASE_URL_MALFORMED)
    assert "hunter2" not in repr(outcome)


def test_plain_talk_to_a_tls_port_is_named(serve: Serve) -> None:
    def alert(connection: socket.socket, request: bytes) -> None:
        connection.sendall(bytes.fromhex("15030300020246"))

    outcome = run(serve(alert).spec())
    assert (outcome.rung, outcome.reason) == (Rung.CHANNEL, Reason.HTTP_TO_HTTPS_PORT)
