"""What is left on a key or its account: asked of the endpoint's own origin, answered with a typed word.

    balance(BalanceSpec(base_url=…, key=…))  ->  Balance(state=VALUE, money=Money(…))

An unknown balance is never 0: it is unsupported, denied or an error, and says why.
"""

from __future__ import annotations

from checks.balance.money import Balance, BalanceOf, BalanceSpec, BalanceState, Money, Shape, Why
from checks.balance.reading import ask_balance, balance

__all__ = [
    "Balance",
    "BalanceOf",
    "BalanceSpec",
    "BalanceState",
    "Money",
    "Shape",
    "Why",
    "ask_balance",
    "balance",
]
