"""The vocabulary of balances: what is asked, and the closed answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum

from checks.spec import EgressPolicy, EndpointKind, Masked


class Shape(StrEnum):
    """The known ways in which an endpoint tells a balance."""

    DEEPSEEK = "deepseek"
    SILICONFLOW = "siliconflow"
    OPENROUTER = "openrouter"
    OPENAI_BILLING = "openai_billing"
    RELAY_KEY_USAGE = "relay_key_usage"
    RELAY_BILLING = "relay_billing"


class BalanceState(StrEnum):
    """What an endpoint says when asked: an amount, or why there is none."""

    VALUE = "value"
    UNSUPPORTED = "unsupported"
    DENIED = "denied"
    ERROR = "error"


class BalanceOf(StrEnum):
    """Whose money it is: the key's own limit, or the account behind it."""

    KEY = "key"
    ACCOUNT = "account"


class Why(StrEnum):
    """Why there is no amount. `NO_LIMIT`: the key may spend without a limit of its own."""

    NO_ADAPTER = "no_adapter"
    NO_KEY = "no_key"
    NO_ROUTE = "no_route"
    NO_LIMIT = "no_limit"
    ODD_ANSWER = "odd_answer"
    REFUSED = "refused"
    RATE_LIMITED = "rate_limited"
    SERVER_FAULT = "server_fault"
    UNREACHABLE = "unreachable"
    EGRESS_DENIED = "egress_denied"


@dataclass(frozen=True, slots=True)
class Money:
    """What is left; below zero for an overdrawn account. `currency` is ISO 4217, or "quota" for the units
    of a relay that does not say what they are worth."""

    amount: Decimal
    currency: str
    of: BalanceOf


@dataclass(frozen=True, slots=True)
class Balance:
    """One answer. `money` is there exactly when the state is "value", `why` exactly when it is not.
    `shape` is the adapter that answered, `status` the HTTP status that decided; None where nothing was
    asked or came back. Nothing in it is text from upstream."""

    state: BalanceState
    money: Money | None = None
    why: Why | None = None
    shape: Shape | None = None
    status: int | None = None

    def __post_init__(self) -> None:
        value = self.state is BalanceState.VALUE
        if value is (self.money is None) or value is (self.why is not None):
            raise ValueError("An amount belongs to a value, and a reason to everything else.")


@dataclass(frozen=True, slots=True)
class BalanceSpec:
    """One question. `base_url` is clean and `key` the one that is bound to its origin. `shape` says which
    adapter to use; None picks by host. `deadline` is in seconds and covers all requests. `now` is aware
    and names the month whose usage counts where usage is told by dates."""

    base_url: str
    key: Masked | None
    kind: EndpointKind = EndpointKind.OPENAI
    shape: Shape | None = None
    deadline: float = 10.0
    egress: EgressPolicy = field(default_factory=EgressPolicy)
    ca_file: str | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
