"""Which addresses may be connected to: each resolved address is judged against the operator's policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from checks.spec import EgressPolicy

# Where clouds hand credentials to whoever asks from inside; nothing here is ever a model server.
NEVER: Final[tuple[tuple[IPv4Network | IPv6Network, str], ...]] = tuple(
    (ip_network(network), rule)
    for network, rule in (
        ("169.254.0.0/16", "link-local and cloud metadata"),
        ("100.100.100.200/32", "cloud metadata"),
        ("168.63.129.16/32", "cloud metadata"),
        ("192.0.0.192/32", "cloud metadata"),
        ("fe80::/10", "link-local"),
        ("fd00:ec2::/64", "cloud metadata"),
        ("fd20:ce::254/128", "cloud metadata"),
        ("fd00:42::42/128", "cloud metadata"),
    )
)

# From the IANA special-purpose registries: everything that is not the public internet.
UNLESS_LISTED: Final[tuple[tuple[IPv4Network | IPv6Network, str], ...]] = tuple(
    (ip_network(network), rule)
    for network, rule in (
        ("127.0.0.0/8", "loopback"),
        ("10.0.0.0/8", "private network"),
        ("172.16.0.0/12", "private network"),
        ("192.168.0.0/16", "private network"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("0.0.0.0/8", "this host"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "reserved"),
        ("198.18.0.0/15", "benchmarking, and the fake addresses of local proxy tools"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::1/128", "loopback"),
        ("::/128", "this host"),
        ("fc00::/7", "private network"),
        ("fec0::/10", "private network"),
        ("ff00::/8", "multicast"),
        ("64:ff9b:1::/48", "local translation"),
        ("100::/64", "discard"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "documentation"),
        ("3fff::/20", "documentation"),
        ("5f00::/16", "segment routing"),
    )
)

_NAT64: Final = IPv6Network("64:ff9b::/96")
_COMPATIBLE: Final = IPv6Network("::/96")


@dataclass(frozen=True, slots=True)
class Denial:
    """Why an address is refused. `rule` names the range; `listable` says whether the operator's
    setting may allow it."""

    address: str
    rule: str
    listable: bool

    def __str__(self) -> str:
        if self.listable:
            return (
                f"The egress policy refuses {self.address} ({self.rule}). "
                "The operator of this instance can allow it by listing its network in the egress setting."
            )
        return (
            f"The egress policy refuses {self.address} ({self.rule}). "
            "Addresses of this range are never allowed, whatever the operator's setting lists."
        )


@lru_cache(maxsize=8192)
def judge(address: IPv4Address | IPv6Address, policy: EgressPolicy) -> Denial | None:
    """Return why `address` is refused, or None when it may be connected to.

    An IPv6 address that carries an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) is judged by
    what it carries, since that is where the packets would go.
    """
    return next(
        (denial for inner in _carried(address) if (denial := _judge_one(inner, address, policy))), None
    )


@lru_cache(maxsize=8192)
def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address that `text` writes, or None when it is a name."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def _carried(address: IPv4Address | IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    """The addresses to judge in place of `address`; itself when it carries none."""
    if isinstance(address, IPv4Address):
        yield address
    elif address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    elif address.sixtofour is not None:
        yield address.sixtofour
    elif address.teredo is not None:
        yield from address.teredo
    elif address in _NAT64 or (address in _COMPATIBLE and int(address) > 0xFFFF):
        yield IPv4Address(int(address) & 0xFFFFFFFF)
    else:
        yield address


def _judge_one(
    inner: IPv4Address | IPv6Address, outer: IPv4Address | IPv6Address, policy: EgressPolicy
) -> Denial | None:
    shown = str(outer) if inner == outer else f"{outer} (carrying {inner})"
    for network, rule in NEVER:
        if inner in network:
            return Denial(shown, rule, listable=False)
    for network, rule in UNLESS_LISTED:
        if inner in network and not any(inner in listed for listed in policy.allowed):
            return Denial(shown, rule, listable=True)
    return None
