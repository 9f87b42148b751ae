"""Fixtures: real servers on loopback and certificates made for the occasion."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.checks.local import Behaviour, LocalServer, serving


class Serve(Protocol):
    """Start a server that lives as long as the test."""

    def __call__(
        self,
        behaviour: Behaviour,
        *,
        tls: ssl.SSLContext | None = None,
        family: socket.AddressFamily = socket.AF_INET,
    ) -> LocalServer: ...


@dataclass(frozen=True)
class MadeCertificate:
    """A self-signed certificate: the PEM file of certificate and key, and its server context."""

    path: Path
    der: bytes
    context: ssl.SSLContext


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as servers:

        def start(
            behaviour: Behaviour,
            *,
            tls: ssl.SSLContext | None = None,
            family: socket.AddressFamily = socket.AF_INET,
        ) -> LocalServer:
            return servers.enter_context(serving(behaviour, tls=tls, family=family))

        yield start


@pytest.fixture(scope="session")
def make_certificate(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., MadeCertificate]:
    """Make a self-signed certificate for loopback that ends in so many days."""
    folder = tmp_path_factory.mktemp("certificates")

    def make(days: float = 90, names: tuple[str, ...] = ("localhost", "127.0.0.1")) -> MadeCertificate:
        path = folder / f"{days}-{'-'.join(names)}.pem"
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _self_signed(key, days, names)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return MadeCertificate(path, certificate.public_bytes(serialization.Encoding.DER), context)

    return make


def _self_signed(key: ec.EllipticCurvePrivateKey, days: float, names: tuple[str, ...]) -> x509.Certificate:
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Rehearsal"),
            x509.NameAttribute(NameOID.COMMON_NAME, "relay.example"),
        ]
    )
    ends = datetime.now(UTC) + timedelta(days=days)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(ends - timedelta(days=400))
        .not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([_alternative(name) for name in names]), critical=False)
        .sign(key, hashes.SHA256())
    )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
