"""Lane contracts: what a lane needs beyond a chat, asked for one promise at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from checks.outcome import SUPPORTING_STEPS, Rung, Status, Step
from checks.probes.asking import Ask, Found
from checks.probes.channel import channel
from checks.probes.chat import OLD_NAME
from checks.probes.contracts import agent, engine, frameworks, replay, rollout
from checks.probes.contracts.question import PACE, Clause, Terms
from checks.reason import Reason
from checks.spec import LaneKind

__all__ = ["CONTRACTS", "PROMISES", "channel_under_contract"]

CONTRACTS: Final[dict[LaneKind, tuple[Clause, ...]]] = {
    LaneKind.AGENT: (
        agent.tools,
        agent.tool_result,
        agent.stream,
        agent.stream_false,
        agent.max_completion_tokens,
        agent.responses,
        frameworks.forced_tool,
        frameworks.json_schema,
        frameworks.developer_role,
        frameworks.content_parts,
        frameworks.image,
        frameworks.template_kwargs,
    ),
    LaneKind.REPLAY: (replay.litellm_id, replay.parameters, replay.sampling),
    LaneKind.ROLLOUT: (
        engine.engine,
        engine.routes,
        engine.window,
        rollout.token_ids,
        rollout.logprobs,
        rollout.samples,
    ),
}

PROMISES: Final = (
    frozenset(clause.__name__ for clauses in CONTRACTS.values() for clause in clauses) - SUPPORTING_STEPS
)
"""Steps that decide whether a lane keeps its contract."""


async def channel_under_contract(ask: Ask) -> Found:
    """Climb the channel rung; where the lane asks for it and the chat passed, go on to its contract.

    Each promise is asked for once, up to the first that is broken; those behind it are "not reached".
    Those that cannot be paid are "not testable", and the free ones behind them are still asked.
    """
    found = await channel(ask)
    chat = next((step for step in found.steps if step.name == "chat"), None)
    broken = any(step.status is Status.DOWN for step in found.steps)
    if not ask.spec.contract or chat is None or found.latency_ms is None or broken:
        return found
    terms = Terms(
        ask.after(sum(step.tokens for step in found.steps)),
        found.token_parameter or OLD_NAME,
        found.latency_ms,
        chat.tokens,
    )
    return replace(found, steps=found.steps + await _kept(terms))


async def _kept(terms: Terms) -> tuple[Step, ...]:
    steps: list[Step] = []
    for clause in CONTRACTS[terms.spec.lane]:
        if any(_ends(step) for step in steps):
            steps.append(Step(Rung.CHANNEL, clause.__name__, Status.NOT_REACHED))
            continue
        spent = sum(step.tokens for step in steps)
        steps.append(await clause(replace(terms, ask=terms.ask.after(spent))))
    return tuple(steps)


def _ends(step: Step) -> bool:
    """A broken promise ends the asking, and so does an engine that has no time for more."""
    return step.status is Status.DOWN or step.reason in (*PACE, Reason.ENGINE_ASLEEP)
