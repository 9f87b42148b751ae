"""Certificates made on the spot: good, expired, for another name, from nobody known."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Pair = tuple[x509.Certificate, ec.EllipticCurvePrivateKey]


@dataclass(frozen=True, slots=True)
class Made:
    """A context for the server, and the file of the authority that a client may trust."""

    server: ssl.SSLContext
    ca_file: str


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _sign(subject: str, issuer: Pair | None, names: list[x509.GeneralName], until: datetime) -> Pair:
    """A certificate for these names; without an issuer it signs itself, as an authority does."""
    key = ec.generate_private_key(ec.SECP256R1())
    signer = issuer[1] if issuer else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(issuer[0].subject if issuer else _name(subject))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(until - timedelta(days=90))
        .not_valid_after(until)
        .add_extension(x509.BasicConstraints(ca=not names, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(signer, hashes.SHA256()), key


@lru_cache
def _authority() -> Pair:
    return _sign("Preflight test authority", None, [], datetime.now(UTC) + timedelta(days=30))


@lru_cache
def _leaf(kind: str) -> Pair:
    now = datetime.now(UTC)
    here: list[x509.GeneralName] = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    if kind == "untrusted":
        return _sign("localhost", None, here, now + timedelta(days=30))
    if kind == "other_name":
        other: list[x509.GeneralName] = [x509.DNSName("llm.corp.example")]
        return _sign("llm.corp.example", _authority(), other, now + timedelta(days=30))
    until = now - timedelta(days=3) if kind == "expired" else now + timedelta(days=30)
    return _sign("localhost", _authority(), here, until)


def context_with(kind: str, folder: Path) -> Made:
    """TLS for a server whose certificate is "good", "expired", "other_name" or "untrusted"."""
    certificate, key = _leaf(kind)
    chain, authority = folder / f"{kind}.pem", folder / "authority.pem"
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    chain.write_bytes(private + certificate.public_bytes(pem))
    authority.write_bytes(_authority()[0].public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return Made(context, str(authority))
