"""Reasons that the same evidence could also mean, when nothing measured tells them apart."""

from __future__ import annotations

from collections.abc import Mapping

from checks.reason import Reason
from checks.verdict import keys, path, servers
from checks.verdict.view import View

_ALWAYS: Mapping[Reason, tuple[Reason, ...]] = {
    Reason.DNS_POISONED: (Reason.TLS_HOSTNAME_MISMATCH,),
    Reason.HTTP_TO_HTTPS_PORT: (),
    Reason.PROXY_ENV_INTERCEPTS_LOOPBACK: (Reason.BAD_GATEWAY_UPSTREAM_DOWN,),
    Reason.BASE_URL_MISSING_V1: (Reason.BASE_URL_WRONG_PATH,),
    Reason.BASE_URL_WRONG_PATH: (Reason.BASE_URL_MISSING_V1,),
    Reason.API_DIALECT_MISMATCH: (Reason.BASE_URL_MISSING_V1,),
    Reason.AUTH_KEY_PLAN_MISMATCH: (Reason.QUOTA_EXHAUSTED,),
    Reason.MODEL_NO_CHANNEL: (Reason.MODEL_NOT_FOUND,),
    Reason.ENGINE_CRASHED: (Reason.PARAM_VALUE_UNSUPPORTED,),
    Reason.PARAM_VALUE_UNSUPPORTED: (Reason.MESSAGE_FORMAT_REJECTED,),
    Reason.AUTH_INSUFFICIENT_SCOPE: (Reason.MODEL_NO_PERMISSION,),
    Reason.TOOL_CALLS_UNPARSED: (Reason.TOOL_ARGS_INVALID_JSON,),
    Reason.MODEL_NO_PERMISSION: (Reason.MODEL_NOT_ACTIVATED,),
    Reason.UPSTREAM_OVERLOADED: (Reason.RATE_LIMITED,),
    Reason.BAD_GATEWAY_UPSTREAM_DOWN: (Reason.SERVER_NOT_READY,),
    Reason.OAUTH_ENV_CONFLICT: (Reason.AUTH_INVALID_KEY,),
    Reason.REQUEST_TIMEOUT: (Reason.CONNECT_TIMEOUT,),
    Reason.ENGINE_WEDGED: (Reason.REQUEST_TIMEOUT,),
}


def candidates(view: View, reason: Reason) -> tuple[Reason, ...]:
    """All reasons the evidence allows, best first; only the reason itself when it is plain."""
    found = [reason]
    if reason is Reason.AUTH_INVALID_KEY:
        found += _other_homes(view)
    elif (
        reason is Reason.AUTH_MISSING_HEADER and keys.was_sent(view) is None and servers.is_string_error(view)
    ):
        found.append(Reason.AUTH_INVALID_KEY)
    elif reason is Reason.AUTH_MISSING_HEADER and (view.status or 0) >= 500:
        found.append(Reason.ENGINE_CRASHED)
    elif reason is Reason.CONNECTION_REFUSED_LOOPBACK and "client_in_container" not in view.evidence.context:
        found += (Reason.SERVER_NOT_READY, Reason.CONTAINER_LOOPBACK)
    elif reason in _ALWAYS and not _proved(view, reason):
        found += _ALWAYS[reason]
    return tuple(dict.fromkeys(found))


def _other_homes(view: View) -> list[Reason]:
    """The sites, plans and sources that were not probed before a key is called wrong."""
    found = []
    probed = view.fact("probe_other_site", "other_site", "sibling_site") is not None
    if servers.family(view) in servers.SITED and not probed:
        found.append(Reason.AUTH_KEY_REGION_MISMATCH)
    if not keys.vendor(view):
        found.append(Reason.AUTH_KEY_WRONG_PROVIDER)
    return found


def _proved(view: View, reason: Reason) -> bool:
    """Whether sibling probes settled a path question."""
    if reason not in (Reason.BASE_URL_MISSING_V1, Reason.BASE_URL_WRONG_PATH):
        return False
    return path.by_siblings(view) is reason or path.is_no_version_missing(view)
