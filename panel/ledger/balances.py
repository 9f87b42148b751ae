"""What endpoints said of the money behind their keys."""

from __future__ import annotations

from datetime import datetime

import checks
from panel.models import BalanceTold, Endpoint

ASKING = "asking"


def begin_balance(endpoint: Endpoint, now: datetime) -> None:
    """Note that the question is on its way."""
    BalanceTold.objects.update_or_create(endpoint=endpoint, defaults={"state": ASKING, "asked_at": now})


def tell_balance(endpoint_id: int, balance: checks.Balance) -> None:
    """Write the answer down; an endpoint that is gone gets none."""
    money = balance.money
    BalanceTold.objects.filter(endpoint=endpoint_id).update(
        state=str(balance.state),
        amount=money.amount if money else None,
        currency=money.currency if money else "",
        of=str(money.of) if money else "",
        why=str(balance.why or ""),
    )
