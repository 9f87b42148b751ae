"""The reference agent: answers a question on a small table with a tool, in several turns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from checks.addresses import chat_url
from checks.outcome import Rung, Status, Step
from checks.probes.asking import Ask, broken_step
from checks.probes.chat import NEW_NAME, OLD_NAME
from checks.probes.completion import read_completion
from checks.probes.contracts.question import PROMPT_ROOM, Answer, Terms, first_choice, post, status_text
from checks.probes.table import ANSWER, QUESTION, SCHEMA, Table
from checks.reason import Reason
from checks.verdict import classify

MAX_TURNS: Final = 6
MAX_CALLS: Final = 8  # of one turn that are answered
TURN_TOKENS: Final = 1024  # a reasoning model thinks before it calls
LEAST_SECONDS: Final = 0.5
MAX_SHOWN: Final = 300

TOOLS: Final = (
    {
        "type": "function",
        "function": {
            "name": "run_sql",
            "description": "Run one SELECT on the SQLite database and get its rows as JSON.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string", "description": "One SELECT statement."}},
                "required": ["query"],
            },
        },
    },
)
ORDER: Final = (
    "You answer questions from a SQLite database. Look at it with run_sql; never guess. "
    f"{SCHEMA} When you know the answer, give it in one short sentence without a tool call."
)


@dataclass(slots=True)
class _Talk:
    """The conversation so far: messages, turns, calls, tokens and milliseconds."""

    messages: list[dict[str, Any]]
    parameter: str
    turns: int = 0
    calls: int = 0
    errors: int = 0
    tokens: int = 0
    milliseconds: float = 0.0
    say: dict[str, str] = field(default_factory=dict)


async def reference_agent(ask: Ask) -> tuple[Step, ...]:
    """Let the lane's model find what is asked of the table; return the one step "agent_answer".

    A refusal, a call that cannot be read, or one that stands as text in the answer is down. A model that
    does not call, loops or answers wrongly is degraded alone: a small model is no broken channel.
    """
    talk = _Talk(
        [{"role": "system", "content": ORDER}, {"role": "user", "content": QUESTION}],
        ask.spec.token_parameter or OLD_NAME,
    )
    with Table() as table:
        while talk.turns < MAX_TURNS:
            step = await _turn(ask, talk, table)
            if step is not None:
                return (step,)
    return (_step(ask, talk, None, Status.DEGRADED, Reason.AGENT_NO_ANSWER, {"ended": "turns"}),)


async def _turn(ask: Ask, talk: _Talk, table: Table) -> Step | None:
    """Ask once and answer the calls that come; the step that ends the talk, None where it goes on."""
    left = ask.after(talk.tokens)
    if left.tokens_left is not None and left.tokens_left < TURN_TOKENS + PROMPT_ROOM:
        return _step(ask, talk, None, Status.NOT_TESTABLE, Reason.BUDGET_SPENT)
    if ask.seconds() < LEAST_SECONDS:
        return _step(ask, talk, None, Status.NOT_TESTABLE, Reason.DEADLINE_SPENT)
    answer = await _asked(left, talk)
    talk.turns += 1
    talk.tokens += answer.tokens
    talk.milliseconds += answer.evidence.timings.total_ms
    if read_completion(answer.got, answer.body) is None:
        say = {**_told(talk), "status": status_text(answer)}
        step = broken_step(Rung.AGENT, "agent_answer", ask.spec, answer.evidence, say, talk.tokens)
        return replace(step, duration_ms=talk.milliseconds, place=ask.spec.place)
    choice = first_choice(answer.body)
    message = choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        return _ended(ask, talk, answer, choice, message)
    return _answered(ask, talk, answer, table, message, calls)


async def _asked(ask: Ask, talk: _Talk) -> Answer:
    """Send the talk; once more by the other name of the length field where the model refuses the first."""
    terms = Terms(ask, talk.parameter, 0.0, 0)
    asked = {"messages": talk.messages, "tools": TOOLS}
    url = chat_url(ask.spec.base_url)
    answer = await post(terms, url, {**asked, talk.parameter: TURN_TOKENS})
    if classify(answer.evidence).reason is Reason.MAX_TOKENS_PARAM_UNSUPPORTED:
        talk.parameter = OLD_NAME if talk.parameter == NEW_NAME else NEW_NAME
        answer = await post(terms, url, {**asked, talk.parameter: TURN_TOKENS})
    return answer


def _answered(
    ask: Ask,
    talk: _Talk,
    answer: Answer,
    table: Table,
    message: Mapping[str, object],
    calls: Sequence[object],
) -> Step | None:
    """Run what was called and send the rows back, as frameworks do: without the reasoning."""
    kept = [call for call in calls[:MAX_CALLS] if isinstance(call, Mapping)]
    read = [_arguments(call) for call in kept]
    if not kept or any(arguments is None for arguments in read):
        return _step(ask, talk, answer, Status.DOWN, Reason.TOOL_ARGS_INVALID_JSON)
    talk.messages.append({"role": "assistant", "content": message.get("content"), "tool_calls": kept})
    for call, arguments in zip(kept, read, strict=True):
        rows = table.asked(str((arguments or {}).get("query", "")))
        talk.calls += 1
        talk.errors += rows.startswith("Error")
        talk.messages.append({"role": "tool", "tool_call_id": str(call.get("id") or ""), "content": rows})
    return None


def _arguments(call: Mapping[str, object]) -> Mapping[str, object] | None:
    function = call.get("function")
    written = function.get("arguments") if isinstance(function, Mapping) else None
    try:
        arguments = json.loads(written) if isinstance(written, str) else None
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def _ended(
    ask: Ask, talk: _Talk, answer: Answer, choice: Mapping[str, object], message: Mapping[str, object]
) -> Step:
    """No further call: a good answer, another one, none, or a call that nobody parsed."""
    verdict = classify(answer.evidence).reason
    cut = choice.get("finish_reason") == "length"
    content = message.get("content")
    text = content.strip() if isinstance(content, str) else ""
    talk.say = {"answer": text[:MAX_SHOWN], "finish_reason": str(choice.get("finish_reason") or "")[:40]}
    if verdict is Reason.TOOL_CALLS_UNPARSED or message.get("function_call"):
        return _step(ask, talk, answer, Status.DOWN, Reason.TOOL_CALLS_UNPARSED)
    if verdict is Reason.CONTENT_FILTERED:
        return _step(ask, talk, answer, Status.DEGRADED, verdict)
    if not talk.calls:
        reason = Reason.CONTENT_EMPTY_REASONING if cut and not text else Reason.TOOL_NOT_CALLED
        return _step(ask, talk, answer, Status.DEGRADED, reason)
    if not text:
        reason = Reason.CONTENT_EMPTY_REASONING if cut else Reason.AGENT_NO_ANSWER
        return _step(ask, talk, answer, Status.DEGRADED, reason)
    if all(part in text.lower().replace(",", "") for part in ANSWER):
        return _step(ask, talk, answer, Status.OK, None)
    return _step(ask, talk, answer, Status.DEGRADED, Reason.AGENT_WRONG_ANSWER)


def _told(talk: _Talk) -> dict[str, str]:
    return {
        "agent": "reference",
        "turns": str(talk.turns),
        "calls": str(talk.calls),
        "errors": str(talk.errors),
        **talk.say,
    }


def _step(
    ask: Ask,
    talk: _Talk,
    answer: Answer | None,
    status: Status,
    reason: Reason | None,
    say: Mapping[str, str] | None = None,
) -> Step:
    return Step(
        Rung.AGENT,
        "agent_answer",
        status,
        reason,
        candidates=(reason,) if reason else (),
        say={**_told(talk), **(say or {})},
        evidence=answer.evidence if answer else None,
        duration_ms=talk.milliseconds,
        tokens=talk.tokens,
        place=ask.spec.place,
    )
