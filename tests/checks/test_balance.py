"""Balances: each shape's amount, and a typed word where there is none; an unknown is never 0."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from checks import EndpointKind, Masked
from checks.balance import Balance, BalanceOf, BalanceSpec, BalanceState, Money, Shape, Why, balance
from checks.simulator import serve as simulate
from tests.checks.conftest import Serve
from tests.checks.local import KEY, LOOPBACK, NOWHERE, Behaviour, LocalServer, answering, head

ACCOUNT, OF_KEY = BalanceOf.ACCOUNT, BalanceOf.KEY
PAGE = answering(200, "<!doctype html><html><div id=root></div></html>", "text/html")
NOT_THERE = answering(404, {"detail": "Not Found"})
REFUSED = answering(401, {"error": {"message": f"Incorrect API key {KEY}"}})

DEEPSEEK = {
    "is_available": True,
    "balance_infos": [
        {"currency": "USD", "total_balance": "0.00", "granted_balance": "0.00", "topped_up_balance": "0.00"},
        {"currency": "CNY", "total_balance": "110.10", "granted_balance": "10.10"},
    ],
}
SILICONFLOW = {"code": 20000, "status": True, "data": {"balance": "0.88", "totalBalance": "88.88"}}
USAGE = {"code": True, "data": {"object": "token_usage", "total_available": 987655, "unlimited_quota": False}}
STATUS = {"success": True, "data": {"quota_per_unit": 500000, "quota_display_type": "USD"}}
SUBSCRIPTION = {"object": "billing_subscription", "hard_limit_usd": 20.5, "system_hard_limit_usd": 20.5}
SPENT = {"object": "list", "total_usage": 523.25}


def pages(routes: dict[str, object], otherwise: Behaviour = NOT_THERE) -> Behaviour:
    """Answer these paths with JSON, or as a behaviour says."""

    def behave(connection: socket.socket, request: bytes) -> None:
        path = request.split(b" ", 2)[1].decode().partition("?")[0]
        told = routes.get(path, otherwise)
        (told if callable(told) else answering(200, told))(connection, request)

    return behave


def ask(server: LocalServer, shape: Shape | None = None, base: str = "/v1", **changes: Any) -> Balance:
    known = {"key": Masked(KEY), "egress": LOOPBACK, "deadline": 5.0, "shape": shape}
    return asyncio.run(balance(BalanceSpec(f"http://127.0.0.1:{server.port}{base}", **{**known, **changes})))


def asked(server: LocalServer) -> list[str]:
    return [sent.split(b" ", 2)[1].decode() for sent in server.seen]


@pytest.mark.parametrize(
    ("shape", "base", "routes", "money"),
    [
        (Shape.DEEPSEEK, "", {"/user/balance": DEEPSEEK}, Money(Decimal("110.10"), "CNY", ACCOUNT)),
        (Shape.DEEPSEEK, "/v1", {"/user/balance": DEEPSEEK}, Money(Decimal("110.10"), "CNY", ACCOUNT)),
        (Shape.SILICONFLOW, "/v1", {"/v1/user/info": SILICONFLOW}, Money(Decimal("88.88"), "CNY", ACCOUNT)),
        (
            Shape.OPENROUTER,
            "/api/v1",
            {"/api/v1/key": {"data": {"limit": 100, "limit_remaining": 74.5}}},
            Money(Decimal("74.5"), "USD", OF_KEY),
        ),
        (
            Shape.OPENROUTER,
            "/api/v1",
            {
                "/api/v1/key": {"data": {"limit": None, "limit_remaining": None}},
                "/api/v1/credits": {"data": {"total_credits": 100.5, "total_usage": 25.75}},
            },
            Money(Decimal("74.75"), "USD", ACCOUNT),
        ),
        (
            Shape.RELAY_KEY_USAGE,
            "/v1",
            {"/api/usage/token": USAGE, "/api/status": STATUS},
            Money(Decimal("1.975310"), "USD", OF_KEY),
        ),
        (Shape.RELAY_KEY_USAGE, "/v1", {"/api/usage/token": USAGE}, Money(Decimal(987655), "quota", OF_KEY)),
        (
            Shape.RELAY_BILLING,
            "/v1",
            {"/v1/dashboard/billing/subscription": SUBSCRIPTION, "/v1/dashboard/billing/usage": SPENT},
            Money(Decimal("15.2675"), "USD", OF_KEY),
        ),
        (
            Shape.OPENAI_BILLING,
            "/v1",
            {"/dashboard/billing/subscription": SUBSCRIPTION, "/dashboard/billing/usage": SPENT},
            Money(Decimal("15.2675"), "USD", OF_KEY),
        ),
    ],
)
def test_each_shape_tells_its_amount(
    serve: Serve, shape: Shape, base: str, routes: dict[str, object], money: Money
) -> None:
    answer = ask(serve(pages(routes)), shape, base)
    assert (answer.state, answer.money, answer.shape) == (BalanceState.VALUE, money, shape)


@pytest.mark.parametrize(
    ("facts", "currency"),
    [
        ({"quota_display_type": "CNY"}, "CNY"),
        ({"quota_display_type": "TOKENS"}, "quota"),
        ({"display_in_currency": False}, "quota"),
        ({"display_in_currency": True}, "USD"),
        ({"quota_display_type": "<b>"}, "quota"),
    ],
)
def test_a_relays_bill_is_in_the_unit_the_relay_shows(
    serve: Serve, facts: dict[str, object], currency: str
) -> None:
    routes: dict[str, object] = {
        "/v1/dashboard/billing/subscription": SUBSCRIPTION,
        "/v1/dashboard/billing/usage": SPENT,
        "/api/status": {"data": facts},
    }
    answer = ask(serve(pages(routes)), Shape.RELAY_BILLING)
    assert answer.money is not None
    assert answer.money.currency == currency


def test_a_stranger_is_asked_as_a_relay_one_shape_after_another(serve: Serve) -> None:
    routes: dict[str, object] = {
        "/v1/dashboard/billing/subscription": SUBSCRIPTION,
        "/v1/dashboard/billing/usage": SPENT,
    }
    server = serve(pages(routes, PAGE))
    answer = ask(server)
    assert (answer.state, answer.shape) == (BalanceState.VALUE, Shape.RELAY_BILLING)
    assert asked(server)[0] == "/api/usage/token"


def test_usage_is_asked_for_the_month_of_the_question(serve: Serve) -> None:
    routes: dict[str, object] = {"/dashboard/billing/subscription": SUBSCRIPTION}
    server = serve(pages(routes))
    ask(server, Shape.OPENAI_BILLING, now=datetime(2026, 2, 28, 12, tzinfo=UTC))
    assert asked(server)[-1].endswith("?start_date=2026-02-01&end_date=2026-03-01")


@pytest.mark.parametrize(
    ("behaviour", "state", "why"),
    [
        (REFUSED, BalanceState.DENIED, Why.REFUSED),
        (answering(403, {"error": {"message": "session key needed"}}), BalanceState.DENIED, Why.REFUSED),
        (NOT_THERE, BalanceState.UNSUPPORTED, Why.NO_ROUTE),
        (PAGE, BalanceState.UNSUPPORTED, Why.ODD_ANSWER),
        (answering(200, {}), BalanceState.UNSUPPORTED, Why.ODD_ANSWER),
        (answering(200, []), BalanceState.UNSUPPORTED, Why.ODD_ANSWER),
        (answering(200, b"[" * 100_000), BalanceState.UNSUPPORTED, Why.ODD_ANSWER),
        (answering(200, {"error": {"message": "boom"}}), BalanceState.ERROR, Why.ODD_ANSWER),
        (answering(302, "", location="/login"), BalanceState.UNSUPPORTED, Why.NO_ROUTE),
        (answering(429, {}), BalanceState.ERROR, Why.RATE_LIMITED),
        (answering(500, "boom", "text/plain"), BalanceState.ERROR, Why.SERVER_FAULT),
        (answering(418, {}), BalanceState.ERROR, Why.ODD_ANSWER),
        (lambda connection, request: None, BalanceState.ERROR, Why.UNREACHABLE),
    ],
)
@pytest.mark.parametrize("shape", [*Shape, None])
def test_what_is_no_amount_is_named_and_never_zero(
    serve: Serve, shape: Shape | None, behaviour: Behaviour, state: BalanceState, why: Why
) -> None:
    answer = ask(serve(behaviour), shape)
    assert (answer.state, answer.why, answer.money) == (state, why, None)


ODD: list[object] = [
    None,
    True,
    [],
    {},
    "",
    "many",
    "NaN",
    "1e999999999",
    "9" * 50,
    "-Infinity",
    10**30,
    float("1e300"),
]


@pytest.mark.parametrize("amount", ODD)
@pytest.mark.parametrize(
    ("shape", "path", "around"),
    [
        (Shape.DEEPSEEK, "/user/balance", '{"balance_infos": [{"currency": "CNY", "total_balance": %s}]}'),
        (Shape.SILICONFLOW, "/v1/user/info", '{"data": {"totalBalance": %s}}'),
        (Shape.RELAY_KEY_USAGE, "/api/usage/token", '{"data": {"total_available": %s}}'),
    ],
)
def test_an_odd_amount_is_no_amount(
    serve: Serve, shape: Shape, path: str, around: str, amount: object
) -> None:
    body = around % json.dumps(amount)
    answer = ask(serve(pages({path: answering(200, body)})), shape)
    assert (answer.state, answer.money) == (BalanceState.UNSUPPORTED, None)


def test_an_overdrawn_account_is_below_zero(serve: Serve) -> None:
    body = {"balance_infos": [{"currency": "CNY", "total_balance": "-0.02"}]}
    answer = ask(serve(pages({"/user/balance": body})), Shape.DEEPSEEK)
    assert answer.money == Money(Decimal("-0.02"), "CNY", ACCOUNT)


def test_an_empty_account_is_a_true_zero(serve: Serve) -> None:
    body = {"balance_infos": [{"currency": "CNY", "total_balance": "0.00"}]}
    answer = ask(serve(pages({"/user/balance": body})), Shape.DEEPSEEK)
    assert (answer.state, answer.money) == (BalanceState.VALUE, Money(Decimal("0.00"), "CNY", ACCOUNT))


@pytest.mark.parametrize(
    ("shape", "routes"),
    [
        (
            Shape.RELAY_KEY_USAGE,
            {"/api/usage/token": {"data": {"total_available": 0, "unlimited_quota": True}}},
        ),
        (Shape.RELAY_BILLING, {"/v1/dashboard/billing/subscription": {"hard_limit_usd": 100000000}}),
        (Shape.OPENROUTER, {"/v1/key": {"data": {"limit_remaining": None}}}),
        (None, {"/api/usage/token": {"data": {"total_available": 0, "unlimited_quota": True}}}),
    ],
)
def test_a_key_without_a_limit_has_no_amount(
    serve: Serve, shape: Shape | None, routes: dict[str, object]
) -> None:
    answer = ask(serve(pages(routes)), shape)
    assert (answer.state, answer.why) == (BalanceState.UNSUPPORTED, Why.NO_LIMIT)


def test_a_credit_page_that_refuses_a_plain_key_leaves_what_the_key_said(serve: Serve) -> None:
    routes: dict[str, object] = {
        "/api/v1/key": {"data": {"limit_remaining": None}},
        "/api/v1/credits": answering(403, {"error": {"message": "management keys only", "code": 403}}),
    }
    answer = ask(serve(pages(routes)), Shape.OPENROUTER, "/api/v1")
    assert (answer.state, answer.why, answer.status) == (BalanceState.UNSUPPORTED, Why.NO_LIMIT, 200)


def test_a_relay_that_refuses_in_a_200_denies(serve: Serve) -> None:
    body = {"success": False, "message": "token not found"}
    answer = ask(serve(pages({"/api/usage/token": body})), Shape.RELAY_KEY_USAGE)
    assert (answer.state, answer.why) == (BalanceState.DENIED, Why.REFUSED)


@pytest.mark.parametrize("a_dollar", [0, -1, "1e-30", None, "x", True])
def test_a_relay_without_a_usable_rate_counts_in_its_own_units(serve: Serve, a_dollar: object) -> None:
    routes: dict[str, object] = {
        "/api/usage/token": USAGE,
        "/api/status": {"data": {"quota_per_unit": a_dollar}},
    }
    answer = ask(serve(pages(routes)), Shape.RELAY_KEY_USAGE)
    assert answer.money == Money(Decimal(987655), "quota", OF_KEY)


@pytest.mark.parametrize("kind", ["vllm", "sglang", "ollama", "agl-gateway", "litellm-proxy", "azure"])
def test_software_without_a_purse_is_not_asked(serve: Serve, kind: str) -> None:
    server = serve(NOT_THERE)
    answer = ask(server, kind=EndpointKind(kind))
    assert (answer.state, answer.why, server.seen) == (BalanceState.UNSUPPORTED, Why.NO_ADAPTER, [])


def test_without_a_key_nothing_is_asked(serve: Serve) -> None:
    server = serve(NOT_THERE)
    answer = ask(server, key=None)
    assert (answer.state, answer.why, server.seen) == (BalanceState.UNSUPPORTED, Why.NO_KEY, [])


@pytest.mark.parametrize(
    "family", ["vllm", "openai", "vendor", "deepseek", "one-api", "new-api", "litellm-proxy"]
)
def test_no_simulated_family_has_an_amount(family: str) -> None:
    with simulate(family, key=KEY) as server:
        spec = BalanceSpec(server.base_url, Masked(KEY), egress=LOOPBACK)
        answer = asyncio.run(balance(spec))
    assert answer.state in (BalanceState.UNSUPPORTED, BalanceState.DENIED)


def test_a_refused_address_is_named_and_asked_once(serve: Serve) -> None:
    server = serve(NOT_THERE)
    answer = ask(server, egress=NOWHERE)
    assert (answer.state, answer.why, server.seen) == (BalanceState.ERROR, Why.EGRESS_DENIED, [])


def test_all_pages_share_one_deadline(serve: Serve) -> None:
    def slow(connection: socket.socket, request: bytes) -> None:
        time.sleep(0.3)
        NOT_THERE(connection, request)

    begun = time.monotonic()
    answer = ask(serve(slow), deadline=0.5)
    assert (answer.state, answer.why) == (BalanceState.ERROR, Why.UNREACHABLE)
    assert time.monotonic() - begun < 1.5


def test_no_redirect_is_followed(serve: Serve) -> None:
    other = serve(pages({"/user/balance": DEEPSEEK}))
    location = f"http://127.0.0.1:{other.port}/user/balance"
    server = serve(lambda connection, request: connection.sendall(head(302, 0, location=location)))
    assert ask(server, Shape.DEEPSEEK, "").state is BalanceState.UNSUPPORTED
    assert other.seen == []


def test_the_key_goes_where_it_is_needed_alone_and_is_nowhere_in_the_answer(serve: Serve) -> None:
    server = serve(pages({"/api/usage/token": USAGE, "/api/status": STATUS}))
    answer = ask(server, Shape.RELAY_KEY_USAGE)
    assert [KEY.encode() in sent for sent in server.seen] == [True, False]
    assert KEY not in repr(answer) + repr(BalanceSpec("http://h.example", Masked(KEY)))


@pytest.mark.parametrize(
    ("state", "money", "why"),
    [
        (BalanceState.VALUE, None, None),
        (BalanceState.DENIED, Money(Decimal(0), "USD", OF_KEY), Why.REFUSED),
        (BalanceState.UNSUPPORTED, None, None),
        (BalanceState.VALUE, Money(Decimal(0), "USD", OF_KEY), Why.REFUSED),
    ],
)
def test_an_answer_that_contradicts_itself_cannot_be_made(
    state: BalanceState, money: Money | None, why: Why | None
) -> None:
    with pytest.raises(ValueError, match="An amount belongs to a value"):
        Balance(state, money, why)
