"""Money, credit, package or allowance that is used up."""

from __future__ import annotations

import re

from checks.reason import Reason
from checks.verdict import homes, rate, servers
from checks.verdict.rules import Rule, row
from checks.verdict.view import View

_WINDOW = re.compile(
    r"per[ _-]?(?:minute|second|hour)|/min\b|perminute|\b(?:rpm|tpm|qps|qpm)\b|retry (?:in"
    r"|after) \d{1,2}(?:\.\d{1,9})?s\b|每分钟|每秒"
)

# DashScope's sentence for its limit of tokens a minute, under the code of a quota.
_ALLOCATED = re.compile(r"allocated quota exceeded")
_FINAL = frozenset(("billingnotactive", "exceededcurrentquotaerror"))

_SPENT = row(
    Reason.QUOTA_EXHAUSTED,
    r"balance.{0,24}(?:insufficient|not enough|too low|exhausted|depleted|negative)"
    r"|insufficient[ _](?:account )?(?:balance|credits?|funds?|quota|user quota|tokens? quota)"
    r"|exceeded (?:your |the )?current quota|plan and billing|out of (?:credits?|quota|funds)"
    r"|no credits?\b|not enough (?:credits?|balance|quota|funds)|requires? more credits"
    r"|more credits|credit balance|credits? (?:exhausted|depleted|used up|remaining: 0|limit"
    r"|have run out)"
    r"|billing[ _](?:hard[ _])?limit|budget (?:has been |was )?exceeded|exceeded? (?:the "
    r"|your )?budget|over budget|payment[ _]required|in arrears|arrearage|overdue|free (?:tier"
    r"|quota|trial|allocated quota|usage|credits?|plan).{0,60}(?:exhaust|used up|exceed|expired"
    r"|ended|run out|limit)|spend(?:ing)?[ _]limit"
    r"|(?:monthly|weekly|daily|hourly|5-hour|plan|subscription) (?:usage|quota|allowance|spend"
    r"|credit|token).{0,30}(?:limit|exceeded|reached|exhausted|used)|(?:usage"
    r"|quota) (?:limit )?(?:has been |is |was )?(?:reached|exceeded|exhausted|used up)"
    r"|reached (?:your|the|its) (?:\w{1,12} ){0,2}(?:usage|quota|spend|credit) limit"
    r"|hit your (?:usage )?limit|upgrade (?:your plan|to continue)"
    r"|recharge|top[ -]?up your|额度.{0,4}(?:不足|已用尽|用完|用尽|耗尽|已用完|已用光|超限)"
    r"|余额.{0,4}(?:不足|为0|已用)|欠费|充值|配额.{0,4}(?:不足|已用|用尽|耗尽|超)"
    r"|资源包.{0,10}(?:用尽|耗尽|不足|用完)|套餐.{0,14}(?:到期|用完|耗尽|已用|上限|过期)|(?:使用"
    r"|用量|调用)上限|免费额度|token.{0,6}额度.{0,6}(?:用|不足)",
    "insufficient_quota billing_not_active insufficient_balance arrearage "
    "billing_hard_limit_reached insufficient_user_quota pre_consume_token_quota_failed "
    "exceeded_current_quota_error billing_error"
    " insufficientbalance accountoverdueerror allocationquota.freetieronly payment_required "
    "out_of_credits insufficient_credits no_credits budget_exceeded usage_limit_reached "
    "usage_limit_exceeded"
    " resourcepackexhausted failedoperation.resourcepackexhausted insufficientquota "
    "quota_exhausted free_tier_exhausted 1113 1308 1309 1310 1008 insufficient_funds "
    "balance_not_enough quota_not_enough"
    " inferencelimitexceeded insufficient_user_balance token_quota_exhausted user_quota_exhausted "
    "prepaid_bill_overdue postpaid_bill_overdue commodity_not_purchased",
)


def exhausted(view: View) -> Reason | None:
    """The purse is empty; whose purse, is asked next."""
    if view.status == 402:
        return _whose(view)
    if not _SPENT.holds(view) or (view.status or 0) < 200:
        return None
    told = bool(_SPENT.codes & view.answer.codes)
    if not told and rate.by_code(view) is not None:
        return None
    # An allowance of a minute is a rate, whatever the sentence calls it.
    of_a_window = _WINDOW.search(view.answer.said) or _ALLOCATED.search(view.answer.said)
    if view.status == 429 and of_a_window and not view.answer.codes & _FINAL:
        return None
    return _whose(view)


def _whose(view: View) -> Reason:
    """The caller's purse, the relay's at its vendor, or a plan's that another root serves."""
    if "1113" in view.answer.codes or _plan_balance(view):
        return Reason.AUTH_KEY_PLAN_MISMATCH
    return Reason.UPSTREAM_MISCONFIGURED if of_the_relay(view) else Reason.QUOTA_EXHAUSTED


def _plan_balance(view: View) -> bool:
    return homes.of_another_plan(view) is not None and bool(homes.PLAN_WORDS.search(view.answer.said))


def of_the_relay(view: View) -> bool:
    """Whether a vendor's arrears text comes from a host that is not the vendor."""
    if view.flag("host_is_vendor") is False:
        return True
    wording = servers.worded_by(view)
    passed_on = view.answer.codes & {"upstreamerror", "badresponsestatuscode"}
    at_channel = any(code.startswith("channel") for code in view.answer.codes) or bool(
        _CHANNEL.search(view.answer.said)
    )
    return (
        bool(passed_on)
        or at_channel
        or (
            bool(_VENDOR_ARREARS & view.answer.codes)
            and not servers.is_vendor_itself(view)
            and wording in ("one-api", "new-api")
        )
    )


_CHANNEL = re.compile(
    r"渠道.{0,12}(?:余额|额度|欠费)|channel.{0,20}(?:balance|quota|credit)|上游.{0,12}(?:余额|额度|欠费)"
)
_VENDOR_ARREARS = frozenset(("arrearage", "accountoverdueerror"))

ANSWERS: tuple[Rule, ...] = (exhausted,)
