"""From an endpoint to its balance: which shapes to try, and which answer counts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import Final

from checks.addresses import AddressError, host_of
from checks.balance.asking import Asker
from checks.balance.money import Balance, BalanceSpec, BalanceState, Shape, Why
from checks.balance.shapes import SHAPES
from checks.spec import EndpointKind

_BY_HOST: Final[Mapping[str, tuple[Shape, ...]]] = {
    "api.deepseek.com": (Shape.DEEPSEEK,),
    "api.siliconflow.cn": (Shape.SILICONFLOW,),
    "api.siliconflow.com": (Shape.SILICONFLOW,),
    "api-st.siliconflow.cn": (Shape.SILICONFLOW,),
    "openrouter.ai": (Shape.OPENROUTER,),
    "api.openai.com": (Shape.OPENAI_BILLING,),
}
_OF_A_STRANGER: Final = (Shape.RELAY_KEY_USAGE, Shape.RELAY_BILLING, Shape.OPENAI_BILLING)

# Software that keeps no purse, or none that its keys may look into.
_WITHOUT: Final = frozenset(
    {
        EndpointKind.VLLM,
        EndpointKind.SGLANG,
        EndpointKind.GATEWAY,
        EndpointKind.OLLAMA,
        EndpointKind.LITELLM,
        EndpointKind.AZURE,
    }
)
_MOST_TELLING: Final = (BalanceState.DENIED, BalanceState.ERROR, BalanceState.UNSUPPORTED)


def ask_balance(spec: BalanceSpec) -> Balance:
    """Ask as `balance` does, and wait for the answer; not for use inside a running event loop."""
    return asyncio.run(balance(spec))


async def balance(spec: BalanceSpec) -> Balance:
    """Ask what is left on the key; never raises but on cancellation.

    Shapes are tried one after another until one gives an amount or a key without a limit, or the
    endpoint cannot be reached. Every request stays on the origin of the base URL; no redirect is
    followed. Of several answers without an amount the most telling one counts.
    """
    shapes = _shapes_of(spec)
    if not shapes:
        return Balance(BalanceState.UNSUPPORTED, why=Why.NO_ADAPTER)
    if not spec.key:
        return Balance(BalanceState.UNSUPPORTED, why=Why.NO_KEY)
    ends = monotonic() + spec.deadline
    answers: list[Balance] = []
    for shape in shapes:
        answers.append(await SHAPES[shape](Asker(spec, shape, ends)))
        if _settles(answers[-1]):
            return answers[-1]
    return min(answers, key=lambda answer: _MOST_TELLING.index(answer.state))


def _shapes_of(spec: BalanceSpec) -> tuple[Shape, ...]:
    if spec.shape is not None:
        return (spec.shape,)
    if spec.kind in _WITHOUT:
        return ()
    try:
        return _BY_HOST.get(host_of(spec.base_url), _OF_A_STRANGER)
    except AddressError:
        return ()


def _settles(answer: Balance) -> bool:
    """Whether no other shape could say more."""
    return answer.state is BalanceState.VALUE or answer.why in (
        Why.NO_LIMIT,
        Why.UNREACHABLE,
        Why.EGRESS_DENIED,
    )
