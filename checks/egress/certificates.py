"""Facts of a certificate nobody has verified, read from its DER bytes.

Python decodes a peer's certificate only after trusting it, and the ones worth showing are those that
were not. The fields follow RFC 5280 section 4.1; anything unexpected is a `ValueError`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple

from checks.outcome import Certificate

MAX_CERTIFICATE: Final = 65_536
MAX_NAMES: Final = 100
MAX_NAME_TEXT: Final = 300

_SEQUENCE: Final = 0x30
_VERSION: Final = 0xA0
_EXTENSIONS: Final = 0xA3
_OID: Final = 0x06
_UTC_TIME: Final = 0x17
_GENERALIZED_TIME: Final = 0x18
_OCTETS: Final = 0x04
_DNS_NAME: Final = 0x82
_IP_NAME: Final = 0x87
_SUBJECT_ALT_NAME: Final = bytes.fromhex("551d11")
_ATTRIBUTES: Final = {
    bytes.fromhex("550403"): "CN",
    bytes.fromhex("55040a"): "O",
    bytes.fromhex("55040b"): "OU",
    bytes.fromhex("550406"): "C",
}
_ENCODINGS: Final = {0x1E: "utf-16-be", 0x14: "latin-1"}


class Element(NamedTuple):
    """One tag-length-value of DER."""

    tag: int
    value: bytes


@lru_cache(maxsize=1024)
def read_certificate(der: bytes, tls_version: str = "") -> Certificate:
    """Return the facts of the certificate in `der`. Raises ValueError when it is not one."""
    if len(der) > MAX_CERTIFICATE:
        raise ValueError("The certificate is too large.")
    outer = list(elements(der))
    body = list(elements(_one(outer, _SEQUENCE).value))
    fields = list(elements(_one(body, _SEQUENCE).value))
    if fields and fields[0].tag == _VERSION:
        fields = fields[1:]
    if len(fields) < 6:
        raise ValueError("The certificate lacks fields.")
    _serial, _algorithm, issuer, validity, subject, _key, *rest = fields
    dates = list(elements(validity.value))
    if len(dates) != 2:
        raise ValueError("A validity has two dates.")
    return Certificate(
        issuer=_name(issuer),
        subject=_name(subject),
        names=_alternative_names(rest),
        not_before=_date(dates[0]),
        not_after=_date(dates[1]),
        tls_version=tls_version,
    )


def elements(data: bytes) -> Iterator[Element]:
    """Yield the elements that stand one after another in `data`. Raises ValueError on a wrong length."""
    position = 0
    while position < len(data):
        if position + 2 > len(data):
            raise ValueError("An element is cut off.")
        tag, length = data[position], data[position + 1]
        position += 2
        if length & 0x80:
            size = length & 0x7F
            if not 1 <= size <= 4 or position + size > len(data):
                raise ValueError("A length is malformed.")
            length = int.from_bytes(data[position : position + size], "big")
            position += size
        if position + length > len(data):
            raise ValueError("An element is longer than what holds it.")
        yield Element(tag, data[position : position + length])
        position += length


def _one(found: list[Element], tag: int) -> Element:
    if not found or found[0].tag != tag:
        raise ValueError("Another element was expected.")
    return found[0]


def _name(name: Element) -> str:
    """A distinguished name as "CN=…, O=…"; attributes without a short name are left out."""
    parts: list[str] = []
    for relative in elements(name.value):
        for pair in elements(relative.value):
            attribute = list(elements(pair.value))
            if len(attribute) == 2 and attribute[0].value in _ATTRIBUTES:
                text = attribute[1].value.decode(_ENCODINGS.get(attribute[1].tag, "utf-8"), "replace")
                parts.append(f"{_ATTRIBUTES[attribute[0].value]}={text}")
    return ", ".join(parts)[:MAX_NAME_TEXT]


def _date(element: Element) -> datetime:
    """A UTCTime turns the century at 50 (RFC 5280, 4.1.2.5.1)."""
    text = element.value.decode("ascii", "replace")
    if element.tag == _UTC_TIME:
        text = ("19" if text[:2] >= "50" else "20") + text
    elif element.tag != _GENERALIZED_TIME:
        raise ValueError("A date was expected.")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _alternative_names(rest: list[Element]) -> tuple[str, ...]:
    """DNS names and addresses of the subjectAltName extension; empty when there is none."""
    holder = next((element for element in rest if element.tag == _EXTENSIONS), None)
    if holder is None:
        return ()
    for extension in elements(_one(list(elements(holder.value)), _SEQUENCE).value):
        parts = list(elements(extension.value))
        if (
            parts
            and parts[0].tag == _OID
            and parts[0].value == _SUBJECT_ALT_NAME
            and parts[-1].tag == _OCTETS
        ):
            names = elements(_one(list(elements(parts[-1].value)), _SEQUENCE).value)
            return tuple(text for name in names if (text := _alternative_name(name)))[:MAX_NAMES]
    return ()


def _alternative_name(name: Element) -> str:
    if name.tag == _DNS_NAME:
        return name.value.decode("ascii", "replace")[:MAX_NAME_TEXT]
    if name.tag == _IP_NAME and len(name.value) in (4, 16):
        return str(ipaddress.ip_address(name.value))
    return ""
