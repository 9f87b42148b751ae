"""The adapters: for each shape, which pages to ask and where in them the amount stands.

From the vendors' own references: DeepSeek `GET /user/balance`, SiliconFlow `GET /v1/user/info`, OpenRouter
`GET /api/v1/key` and `/credits`, new-api `GET /api/usage/token`, one-api and OpenAI `…/dashboard/billing`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Final

from checks.balance.asking import Asker, Page, number
from checks.balance.money import Balance, BalanceOf, BalanceState, Money, Shape, Why

QUOTA: Final = "quota"
CENTS: Final = Decimal(100)
NO_LIMIT_FROM: Final = Decimal(100_000_000)  # what one-api writes for a key without a limit

_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_PLACES: Final = Decimal("0.000001")

Adapter = Callable[[Asker], Awaitable[Balance]]


async def deepseek(asker: Asker) -> Balance:
    """The account, in the first currency that has something left."""
    page = await asker.get("/user/balance")
    found = [money for entry in _entries(page, "balance_infos") if (money := _deepseek_money(entry))]
    if not found:
        return asker.none(page)
    return _value(asker, page, next((money for money in found if money.amount), found[0]))


async def siliconflow(asker: Asker) -> Balance:
    """The account: granted and paid together, in the currency of the site."""
    page = await asker.get("/v1/user/info")
    amount = number(page.part("data").get("totalBalance"))
    if amount is None:
        return asker.none(page)
    currency = "USD" if ".siliconflow.com" in asker.spec.base_url else "CNY"
    return _value(asker, page, Money(amount, currency, BalanceOf.ACCOUNT))


async def openrouter(asker: Asker) -> Balance:
    """The key's own limit; for a key without one, the account, which only a management key may see."""
    page = await asker.get("/v1/key")
    own = page.part("data")
    left = number(own.get("limit_remaining"))
    if left is not None:
        return _value(asker, page, Money(left, "USD", BalanceOf.KEY))
    if "limit_remaining" not in own:
        return asker.none(page)
    credits_page = await asker.get("/v1/credits")
    bought, used = (number(credits_page.part("data").get(name)) for name in ("total_credits", "total_usage"))
    if bought is None or used is None:
        return asker.none(page, Why.NO_LIMIT)
    return _value(asker, credits_page, Money(bought - used, "USD", BalanceOf.ACCOUNT))


async def relay_key_usage(asker: Asker) -> Balance:
    """What new-api leaves to the key, in dollars where the relay says what its units are worth."""
    page = await asker.get("/api/usage/token")
    if (page.document or {}).get("success") is False:
        return asker.denied(page)
    usage = page.part("data")
    left = number(usage.get("total_available"))
    if usage.get("unlimited_quota") is True:
        return asker.none(page, Why.NO_LIMIT)
    if left is None:
        return asker.none(page)
    a_dollar = number((await _relay_facts(asker)).get("quota_per_unit"))
    if a_dollar is None or a_dollar < 1:
        return _value(asker, page, Money(left, QUOTA, BalanceOf.KEY))
    return _value(asker, page, Money((left / a_dollar).quantize(_PLACES), "USD", BalanceOf.KEY))


async def relay_billing(asker: Asker) -> Balance:
    """What one-api leaves to the key, in the unit in which the relay shows its money."""
    found = await _billing(asker, "/v1/dashboard/billing")
    if found.money is None:
        return found
    return replace(found, money=replace(found.money, currency=_shown_in(await _relay_facts(asker))))


async def openai_billing(asker: Asker) -> Balance:
    """What is left of the month's hard limit. OpenAI itself shows it to browser sessions alone."""
    return await _billing(asker, "/dashboard/billing")


SHAPES: Final[Mapping[Shape, Adapter]] = {
    Shape.DEEPSEEK: deepseek,
    Shape.SILICONFLOW: siliconflow,
    Shape.OPENROUTER: openrouter,
    Shape.OPENAI_BILLING: openai_billing,
    Shape.RELAY_KEY_USAGE: relay_key_usage,
    Shape.RELAY_BILLING: relay_billing,
}


async def _billing(asker: Asker, path: str) -> Balance:
    """Limit and usage stand on two pages; the usage is in cents, for a range of days."""
    granted = await asker.get(f"{path}/subscription")
    limit = number((granted.document or {}).get("hard_limit_usd"))
    if limit is None:
        return asker.none(granted)
    if limit >= NO_LIMIT_FROM:
        return asker.none(granted, Why.NO_LIMIT)
    today = asker.spec.now.date()
    days = f"start_date={today.replace(day=1)}&end_date={today + timedelta(days=1)}"
    spent = await asker.get(f"{path}/usage?{days}")
    used = number((spent.document or {}).get("total_usage"))
    if used is None:
        return asker.none(spent)
    return _value(asker, spent, Money(limit - used / CENTS, "USD", BalanceOf.KEY))


async def _relay_facts(asker: Asker) -> Mapping[str, object]:
    """What a relay tells everybody of itself; asked without the key."""
    return (await asker.get("/api/status", with_key=False)).part("data")


def _shown_in(facts: Mapping[str, object]) -> str:
    """new-api names its unit; one-api says only whether it shows money at all."""
    shown = str(facts.get("quota_display_type", "USD"))
    if shown in ("USD", "CNY") and facts.get("display_in_currency") is not False:
        return shown
    return QUOTA


def _entries(page: Page, name: str) -> list[Mapping[str, object]]:
    found = (page.document or {}).get(name)
    return [entry for entry in found[:10] if isinstance(entry, Mapping)] if isinstance(found, list) else []


def _deepseek_money(entry: Mapping[str, object]) -> Money | None:
    amount, currency = number(entry.get("total_balance")), str(entry.get("currency"))
    if amount is None or not _CURRENCY.fullmatch(currency):
        return None
    return Money(amount, currency, BalanceOf.ACCOUNT)


def _value(asker: Asker, page: Page, money: Money) -> Balance:
    return Balance(BalanceState.VALUE, money, shape=asker.shape, status=page.got.status)
