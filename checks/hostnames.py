"""Host names and addresses as they stand in a URL: one canonical spelling, and how far they reach."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from checks.pasted import Edit

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".svc")


class BadHost(ValueError):
    """No host. `instead` is the host that was probably meant, None where nobody can tell."""

    def __init__(self, instead: str | None = None) -> None:
        super().__init__("This is not a host name and not an IP address.")
        self.instead = instead


@dataclass(frozen=True, slots=True)
class Host:
    """`name` is lower case; an IPv6 address is short and has no brackets."""

    name: str
    edits: tuple[Edit, ...] = ()


def canonical_host(text: str) -> Host:
    """Read the host of a URL, an IPv6 address in its brackets. Raises `BadHost`."""
    lowered = text.lower()
    edits = (Edit.LOWER_CASED_HOST,) if lowered != text else ()
    if lowered.startswith("["):
        return _canonical_ipv6(lowered[1:-1], edits)
    if lowered.endswith("."):
        raise BadHost(lowered.rstrip(".") or None)
    labels = lowered.split(".")
    # A last label of digits makes clients read an IPv4 address, and most know odder spellings of one.
    named = not _NUMERIC_LABEL.fullmatch(labels[-1]) and all(_LABEL.fullmatch(label) for label in labels)
    if (named and len(lowered) <= 253) or isinstance(ip_of(lowered), ipaddress.IPv4Address):
        return Host(lowered, edits)
    raise BadHost


def is_loopback(host: str) -> bool:
    """Whether a canonical host means the machine itself: another machine never finds it there."""
    address = ip_of(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def is_private(host: str) -> bool:
    """Whether a canonical host is known inside a network only: loopback, private ranges, bare names."""
    address = ip_of(host)
    if address is None:
        return "." not in host or host.endswith(_PRIVATE_SUFFIXES)
    return not address.is_global


def ip_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Read an IP address without brackets; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _canonical_ipv6(text: str, edits: tuple[Edit, ...]) -> Host:
    address = ip_of(text)
    if not isinstance(address, ipaddress.IPv6Address) or address.scope_id:
        raise BadHost
    if address.ipv4_mapped:
        raise BadHost(str(address.ipv4_mapped))
    return Host(address.compressed, edits if address.compressed == text else (*edits, Edit.REWROTE_IPV6))
