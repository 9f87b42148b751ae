"""Rules on certificates: variables that no client reads, paths that no client finds, checks switched off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from checks.lint.finding import Hit, Rule, caution, suspicion
from checks.lint.roles import snake
from checks.lint.sheet import Role, Scalar, Sheet
from checks.reason import Reason

_OFF: Final[Mapping[str, frozenset[str]]] = {
    "node_tls_reject_unauthorized": frozenset(("0",)),
    "pythonhttpsverify": frozenset(("0",)),
    "ssl_verify": frozenset(("false", "0", "no", "off")),
    "verify_ssl": frozenset(("false", "0", "no", "off")),
    "curl_insecure": frozenset(("1", "true")),
    "git_ssl_no_verify": frozenset(("1", "true")),
}


def _only_requests(sheet: Sheet) -> Iterator[Hit]:
    names = {item.name.upper() for item in sheet.items if item.value.strip()}
    read = {"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"} & names
    for item in sheet.named("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        if item.value.strip() and not read:
            yield Hit(item.line, item.key, {"name": item.name})
            return


def _path_not_found(sheet: Sheet) -> Iterator[Hit]:
    """A relative path depends on where the client starts; a tilde is a name like any other to it."""
    for item in sheet.of(Role.CA):
        value = item.value.strip()
        if not value or item.is_reference or value.startswith("$"):
            continue
        expanded = sheet.reading.dialect.operators and not item.quoted and value.startswith("~")
        absolute = value.startswith("/") or value[1:3] in (":\\", ":/")
        if not absolute and not expanded:
            yield Hit(item.line, item.key, {"name": item.name})


def _private_key(sheet: Sheet) -> Iterator[Hit]:
    for item in sheet.of(Role.CA):
        if item.value.strip().lower().endswith((".key", "_key.pem", "-key.pem", ".p12", ".pfx")):
            yield Hit(item.line, item.key, {"name": item.name})


def _verification_off(sheet: Sheet) -> Iterator[Hit]:
    for item in sheet.items:
        values = _OFF.get(snake(item.name))
        if values and item.scalar is not Scalar.NOTHING and item.value.strip().lower() in values:
            yield Hit(item.line, item.key, {"name": item.name})


RULES: Final[Mapping[str, Rule]] = {
    "ca_not_read": suspicion(Reason.TLS_UNTRUSTED_CA, _only_requests),
    "ca_path": suspicion(Reason.TLS_UNTRUSTED_CA, _path_not_found),
    "ca_is_key": suspicion(Reason.TLS_UNTRUSTED_CA, _private_key),
    "verification_off": caution(Reason.TLS_UNTRUSTED_CA, _verification_off),
}
