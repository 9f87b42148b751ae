"""Which addresses are refused, and what the refusal says."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest

from checks import EgressPolicy
from checks.egress import judge

NOTHING = EgressPolicy()
EVERYTHING = EgressPolicy((ip_network("0.0.0.0/0"), ip_network("::/0")))
LOOPBACK = EgressPolicy((ip_network("127.0.0.0/8"), ip_network("::1/128")))

PUBLIC = ["1.1.1.1", "8.8.8.8", "99.255.255.255", "172.15.0.1", "172.32.0.1", "2606:4700::1111", "2a00::1"]
NEVER = [
    "169.254.169.254",
    "169.254.0.1",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "fe80::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:169.254.169.254",
    "::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::1",
]
UNLESS_LISTED = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "100.127.255.255",
    "198.18.0.7",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fc00::1",
    "fd12:3456::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "64:ff9b:1::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:0a00:0001::1",
    "2001:0:808:808:0:0:80ff:fffe",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_the_public_internet_is_always_allowed(address: str) -> None:
    assert judge(ip_address(address), NOTHING) is None


@pytest.mark.parametrize("address", NEVER)
def test_metadata_and_link_local_are_refused_whatever_is_listed(address: str) -> None:
    denial = judge(ip_address(address), EVERYTHING)
    assert denial is not None
    assert not denial.listable
    assert "never allowed" in str(denial)


@pytest.mark.parametrize("address", UNLESS_LISTED)
def test_what_is_not_public_is_refused_unless_listed(address: str) -> None:
    denial = judge(ip_address(address), NOTHING)
    assert denial is not None
    assert denial.listable
    assert judge(ip_address(address), EVERYTHING) is None


def test_a_mapped_address_is_allowed_by_the_network_of_what_it_carries() -> None:
    assert judge(ip_address("::ffff:127.0.0.1"), LOOPBACK) is None


def test_a_translated_public_address_is_public() -> None:
    assert judge(ip_address("64:ff9b::808:808"), NOTHING) is None


def test_a_refusal_names_address_rule_and_who_can_allow_it() -> None:
    text = str(judge(ip_address("10.1.2.3"), NOTHING))
    assert "10.1.2.3" in text
    assert "private network" in text
    assert "operator" in text


def test_a_refusal_of_a_carrier_names_what_it_carries() -> None:
    assert "carrying 10.1.2.3" in str(judge(ip_address("::ffff:10.1.2.3"), NOTHING))
