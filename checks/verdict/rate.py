"""Too many requests or tokens for a window, or too many at once."""

from __future__ import annotations

from checks.reason import Reason
from checks.verdict.rules import Rule, row
from checks.verdict.view import View

_LIMITED = row(
    Reason.RATE_LIMITED,
    r"rate[ _-]?limit|too many (?:requests|tokens|concurrent|connections)|(?:requests?|tokens?"
    r"|calls) per[ _](?:minute|second|hour|day|min)|\b(?:rpm|tpm|qps|rpd|tpd|qpm)\b|concurren(?:t"
    r"|cy).{0,60}(?:limit|exceed|reached|max|too)|throttl|max(?:imum)? (?:organi[sz]ation |account "
    r"|request )?concurrency"
    r"|请求.{0,6}(?:频繁|过快|过多)|频率|限流|速率|并发.{0,10}(?:超|过高|限制|上限|过多)"
    r"|请求数.{0,8}(?:限制|上限|超)|slow down|quota exceeded|limit exceeded"
    r"|resource has been exhausted|allocated quota exceeded|try again in \d",
    "rate_limit_exceeded rate_limit_reached_error rate_limit_error ratelimitreached throttling "
    "throttling.ratequota throttling.allocationquota throttling.burstrate limit_requests "
    "limit_burst_rate too_many_requests toomanyrequests"
    " 1302 1303 resource_exhausted request_rate_exceeded tokens_exceeded modelratelimitexceeded "
    "request_quota_exceeded ratelimiterror requestburstratelimit rate_limited too_many_requests_error "
    "token_quota_exceeded"
    " requestratetoohigh rpm_rate_limit_exceeded tpm_rate_limit_exceeded rateexceeded "
    "throttlingexception serverratelimit modelaccountrpmratelimitexceeded "
    "modelaccounttpmratelimitexceeded accountratelimitexceeded",
)


def limited(view: View) -> Reason | None:
    """Words or codes of a limit, on a status that may carry one (a single huge request comes as 413)."""
    return (
        Reason.RATE_LIMITED
        if view.status in (429, 413, 403, 400, 503, 500, 200, 529) and _LIMITED.holds(view)
        else None
    )


def by_code(view: View) -> Reason | None:
    """The code says rate, whatever sentence a relay put in the text's place."""
    if view.status not in (429, 413, 503) or _SAYS_CROWDED & view.answer.codes:
        return None
    return Reason.RATE_LIMITED if _LIMITED.codes & view.answer.codes else None


_SAYS_CROWDED = frozenset(
    ("serveroverloaded", "modeloverloaded", "overloadederror", "engineoverloadederror", "1305", "1311")
)


def oversized_for_window(view: View) -> Reason | None:
    """413 that speaks of tokens per minute: a rate, not a size."""
    return limited(view) if view.status == 413 else None


def by_status(view: View) -> Reason | None:
    """429 that says nothing more."""
    return Reason.RATE_LIMITED if view.status == 429 else None


FIRST: tuple[Rule, ...] = (oversized_for_window,)
CODES: tuple[Rule, ...] = (by_code,)
ANSWERS: tuple[Rule, ...] = (limited,)
