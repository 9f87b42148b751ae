"""Names that do not resolve, or resolve to somebody else."""

from __future__ import annotations

import re

from checks.outcome import FailureKind, Phase
from checks.reason import Reason
from checks.verdict.rules import Rule, failing
from checks.verdict.view import View

# EAI_AGAIN (-3), WSATRY_AGAIN (11002), Go's "server misbehaving" and a resolver that times out on port 53.
_RESOLVER = re.compile(
    r"errno -3\b|temporary failure in name resolution|eai_again|servfail|server misbehaving|\b11002\b"
    r"|could not contact dns|no (?:dns|name) ?servers?\b|dns (?:query|lookup|request)? ?(?:timed ?out"
    r"|timeout)"
    r"|:53: (?:read|write|dial|i/o|connection|connect)|timeout while contacting dns"
    r"|resolver .{0,40}(?:down|unreachable)"
    r"|域名解析(?:暂时|服务).{0,8}(?:失败|不可用)"
)
_GOOD_NAME_FAILS = re.compile(r"fail|error|eai|timeout|no answer|temporary")
_EAI_AGAIN = (-3, 11002)

unknown_name = failing(
    Reason.DNS_NXDOMAIN,
    r"name or service not known|nodename nor servname|enotfound|no such host|could ?n[o']t resolve host"
    r"|name does not resolve|nxdomain|no address associated|getaddrinfo failed|\b11001\b"
    r"|failed to lookup address"
    r"|err_name_not_resolved|name resolution (?:failed|error)|failed to resolve|nameresolutionerror"
    r"|未知的名称或服务|不知道这样的主机|无法解析(?:主机|域名)|域名不存在",
)


def resolver_down(view: View) -> Reason | None:
    """The resolver gave no answer at all, for this name or for a well-known one."""
    failure = view.evidence.failure
    if failure is None:
        return None
    if failure.kind is FailureKind.TIMEOUT and failure.phase is Phase.DNS:
        return Reason.DNS_RESOLVER_UNAVAILABLE
    known = view.words("known_good_name", "known_name_probe", "other_name_probe", "well_known_name")
    if failure.kind is FailureKind.DNS and known and _GOOD_NAME_FAILS.search(known):
        return Reason.DNS_RESOLVER_UNAVAILABLE
    numbered = failure.kind is FailureKind.DNS and failure.errno in _EAI_AGAIN
    return Reason.DNS_RESOLVER_UNAVAILABLE if numbered or _RESOLVER.search(view.failure_text) else None


def poisoned(view: View) -> Reason | None:
    """A trusted resolver gives other addresses than the system's, and the address does not serve."""
    if view.evidence.failure is None:
        return None
    trusted = view.fact("trusted_addresses", "doh_addresses", "trusted_resolver")
    mine = view.evidence.addresses or view.fact("system_addresses", "resolved_addresses", "resolved_address")
    if not trusted or not mine:
        verdict = view.words("resolver_check", "dns_check", "address_owner", "resolved_to", "peer_owner")
        return Reason.DNS_POISONED if _FOREIGN.search(verdict) else None
    if view.kind not in (FailureKind.TIMEOUT, FailureKind.TLS, FailureKind.RESET, FailureKind.REFUSED):
        return None
    return None if _listed(trusted) & _listed(mine) else Reason.DNS_POISONED


_FOREIGN = re.compile(
    r"other|unrelated|foreign|differ|not (?:the|this) vendor|another compan|not in .{0,20}range|hijack|poison"
)


def _listed(value: object) -> set[str]:
    if isinstance(value, str):
        return set(re.split(r"[\s,;]+", value.strip()))
    return (
        {str(item) for item in value} if isinstance(value, list | tuple | set | frozenset) else {str(value)}
    )


def died_in_lookup(view: View) -> Reason | None:
    """Any other failure of the lookup."""
    return Reason.DNS_NXDOMAIN if view.kind is FailureKind.DNS else None


FAILURES: tuple[Rule, ...] = (resolver_down, unknown_name, died_in_lookup)
