"""One page of an account: asked below the endpoint's own root, read as JSON, judged by its status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from time import monotonic
from typing import Final

from checks.addresses import root_of
from checks.balance.money import Balance, BalanceSpec, BalanceState, Shape, Why
from checks.egress import Exchange, exchange
from checks.outcome import FailureKind

LEAST_SECONDS: Final = 0.001
LONGEST: Final = 40  # characters of an amount
MOST: Final = Decimal("1e12")  # more than anybody has: a garbled number

_REFUSED: Final = frozenset({401, 403})
_NO_ROUTE: Final = frozenset({404, 405, 410, 501})
_LIMITED: Final = 429


@dataclass(frozen=True, slots=True)
class Page:
    """What one GET brought. `document` is the JSON object of a 2xx; None for anything else."""

    got: Exchange
    document: Mapping[str, object] | None

    def part(self, name: str) -> Mapping[str, object]:
        """Return the object under `name`, empty where there is none."""
        found = (self.document or {}).get(name)
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Asker:
    """A question under way: `ends` is its last moment on the monotonic clock."""

    spec: BalanceSpec
    shape: Shape
    ends: float

    async def get(self, path: str, *, with_key: bool = True) -> Page:
        """GET `path` below the root of the base URL; never raises but on cancellation."""
        spec = self.spec
        headers = {"accept": "application/json"}
        if with_key and spec.key:
            headers["authorization"] = f"Bearer {spec.key.reveal()}"
        got = await exchange(
            "GET",
            root_of(spec.base_url) + path,
            policy=spec.egress,
            deadline=max(LEAST_SECONDS, self.ends - monotonic()),
            headers=headers,
            ca_file=spec.ca_file,
        )
        return Page(got, _document(got))

    def none(self, page: Page, why: Why | None = None) -> Balance:
        """Return why `page` holds no amount; `why` is what a well-formed page lacks."""
        state, reason = _refusal(page.got) or (BalanceState.UNSUPPORTED, why or Why.ODD_ANSWER)
        if (page.document or {}).get("error"):
            state = BalanceState.ERROR
        return Balance(state, why=reason, shape=self.shape, status=page.got.status)

    def denied(self, page: Page) -> Balance:
        """Return the refusal that a page of status 200 puts into words."""
        return Balance(BalanceState.DENIED, why=Why.REFUSED, shape=self.shape, status=page.got.status)


def number(value: object) -> Decimal | None:
    """Return an amount as it was written, as a number or as text; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        return None
    try:
        amount = Decimal(value.strip()[:LONGEST] if isinstance(value, str) else value)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount.copy_abs() < MOST else None


def _refusal(got: Exchange) -> tuple[BalanceState, Why] | None:
    """What the exchange says by itself; None for a 2xx, which its adapter reads."""
    status = got.status
    if got.failure is not None or status is None:
        denied = got.failure is not None and got.failure.kind is FailureKind.DENIED
        return BalanceState.ERROR, Why.EGRESS_DENIED if denied else Why.UNREACHABLE
    if status in _REFUSED:
        return BalanceState.DENIED, Why.REFUSED
    if status in _NO_ROUTE or 300 <= status < 400:
        return BalanceState.UNSUPPORTED, Why.NO_ROUTE
    if status == _LIMITED:
        return BalanceState.ERROR, Why.RATE_LIMITED
    if status >= 500:
        return BalanceState.ERROR, Why.SERVER_FAULT
    return None if 200 <= status < 300 else (BalanceState.ERROR, Why.ODD_ANSWER)


def _document(got: Exchange) -> Mapping[str, object] | None:
    if got.failure is not None or got.status is None or not 200 <= got.status < 300:
        return None
    try:
        parsed = json.loads(got.body, parse_float=Decimal)
    except (ValueError, RecursionError, InvalidOperation):
        return None
    return parsed if isinstance(parsed, Mapping) else None
