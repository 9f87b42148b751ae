"""What the agent lane promises: tools, streams with an end, and the fields its frameworks always send."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from checks.addresses import chat_url, responses_url
from checks.outcome import Rung, Status, Step
from checks.probes.chat import ANSWER_TOKENS, NEW_NAME
from checks.probes.contracts.question import (
    USER,
    Answer,
    Terms,
    broken,
    completed,
    first_choice,
    passed,
    post,
    status_text,
    unkept,
    unpayable,
    worse,
)
from checks.probes.sse import EventStream, read_events
from checks.reason import Reason
from checks.spec import EndpointKind
from checks.verdict import classify

TOOL_TOKENS: Final = 1024  # a reasoning model thinks before it calls, and a cut call proves nothing
RESPONSE_TOKENS: Final = 16  # the least that OpenAI takes for this route

CALL_PROMPT: Final = "What is the weather in Paris now? Call get_weather; do not answer from memory."
TOOLS: Final = (
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city at this moment.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    },
)
CALL_ID: Final = "call00001"  # nine letters and digits, the one form that every server takes
CALLED: Final = {"name": "get_weather", "arguments": '{"city": "Paris"}'}

# Measured: what each client sends whatever its caller wrote.
SEND_NEW_NAME: Final = "langchain-openai, pydantic-ai, dspy 3"
NEED_RESPONSES: Final = "openai-agents, @ai-sdk/openai, pydantic-ai 2 (openai:)"


async def tools(terms: Terms) -> Step:
    """Offer a tool that the prompt cannot do without: a call comes back whose arguments are a JSON object.

    `tool_choice` is left out, as agents do: a forced call would go past the server's parser.
    """
    name, asked = "tools", {"tools": TOOLS}
    messages = ({"role": "user", "content": CALL_PROMPT},)
    answer = await completed(terms, name, asked, messages=messages, tokens=TOOL_TOKENS)
    if isinstance(answer, Step):
        return answer
    choice = first_choice(answer.body)
    message = choice.get("message")
    calls = message.get("tool_calls") if isinstance(message, Mapping) else None
    if not isinstance(calls, list) or not calls:
        return _uncalled(name, terms, answer)
    say = {"calls": str(len(calls)), "finish_reason": str(choice.get("finish_reason") or "")[:40]}
    if all(_readable(call) for call in calls):
        return passed(name, answer, say)
    return unkept(name, answer, Reason.TOOL_ARGS_INVALID_JSON, say)


def _uncalled(name: str, terms: Terms, answer: Answer) -> Step:
    """No call: the parser missed it, or the model ran out of room, was filtered or chose not to."""
    choice = first_choice(answer.body)
    verdict = classify(answer.evidence).reason
    message = choice.get("message")
    old_form = isinstance(message, Mapping) and bool(message.get("function_call"))
    if verdict is Reason.TOOL_CALLS_UNPARSED or old_form:
        return unkept(name, answer, Reason.TOOL_CALLS_UNPARSED)
    say = {"calls": "0", "finish_reason": str(choice.get("finish_reason") or "")[:40]}
    if verdict is Reason.CONTENT_FILTERED:
        return worse(name, answer, verdict, say)
    cut = choice.get("finish_reason") == "length"
    return worse(name, answer, Reason.CONTENT_EMPTY_REASONING if cut else Reason.TOOL_NOT_CALLED, say)


def _readable(call: object) -> bool:
    """Whether clients can read the call's arguments: a string that holds a JSON object."""
    function = call.get("function") if isinstance(call, Mapping) else None
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    if not isinstance(arguments, str):
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


async def tool_result(terms: Terms) -> Step:
    """Send a call and its result back, as frameworks do: without the reasoning that led to the call."""
    call = {"id": CALL_ID, "type": "function", "function": CALLED}
    messages = (
        {"role": "user", "content": CALL_PROMPT},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": CALL_ID, "content": '{"weather": "dry, 18 degrees"}'},
    )
    answer = await completed(terms, "tool_result", {"tools": TOOLS}, messages=messages, tokens=TOOL_TOKENS)
    return answer if isinstance(answer, Step) else passed("tool_result", answer)


async def stream(terms: Terms) -> Step:
    """Ask for a stream: events of the right type, to a finish reason and the end mark."""
    name = "stream"
    cannot = unpayable(terms, name, ANSWER_TOKENS)
    if cannot is not None:
        return cannot
    allowed = terms.ask.seconds()
    asked = {"messages": USER, terms.parameter: ANSWER_TOKENS, "stream": True}
    answer = await post(terms, chat_url(terms.spec.base_url), asked)
    if terms.spec.kind is EndpointKind.GATEWAY and answer.got.status == 400:
        return passed(name, answer, {"supported": "no"})  # documented: what trains behind it never streams
    if answer.got.failure is not None or answer.got.status is None or not 200 <= answer.got.status < 300:
        return broken(terms, name, answer, allowed)
    return _judged(name, terms, answer, read_events(answer.got.body))


def _judged(name: str, terms: Terms, answer: Answer, read: EventStream) -> Step:
    chunks = [event for event in read.events if isinstance(event, Mapping)]
    if not read.found or any(event.get("error") for event in chunks):
        return _misframed(name, terms, answer)
    answer = replace(answer, tokens=_spent(chunks, terms))
    if read.capped:
        return unkept(name, answer, Reason.ANSWER_TOO_LARGE)
    if read.unreadable:
        return unkept(name, answer, Reason.STREAM_FRAMING_MISMATCH)
    choices = [first_choice(chunk) for chunk in chunks]  # a filter's first and a usage's last have none
    finish = next((str(one["finish_reason"]) for one in choices if one.get("finish_reason")), "")
    content_type = answer.got.header("content-type")
    say = {
        "events": str(len(read.events)),
        "finish_reason": finish[:40],
        "end_mark": "yes" if read.done else "no",
        "empty_chunks": str(sum(not choice for choice in choices)),
    }
    if not any(choices):
        return unkept(name, answer, Reason.CHOICES_EMPTY_CHUNK, say)
    if not finish and not read.done:
        return unkept(name, answer, Reason.STREAM_TRUNCATED, say)
    if not finish or not read.done:
        return worse(name, answer, Reason.STREAM_TRUNCATED, say)
    if not content_type.lower().startswith("text/event-stream"):
        said = {**say, "content_type": content_type[:80]}
        return worse(name, answer, Reason.STREAM_FRAMING_MISMATCH, said)
    return passed(name, answer, say)


def _misframed(name: str, terms: Terms, answer: Answer) -> Step:
    """A 2xx that is no stream, or one that carries an error: the verdict looks at what it is instead."""
    step = broken(terms, name, answer, terms.fair_seconds)
    if step.reason is not Reason.UNEXPLAINED:
        return step
    return unkept(name, answer, Reason.STREAM_FRAMING_MISMATCH)


def _spent(chunks: list[Mapping[str, object]], terms: Terms) -> int:
    """Tokens by the last usage that was sent; else what the chat cost, which asked the same."""
    for chunk in reversed(chunks):
        usage = chunk.get("usage")
        total = usage.get("total_tokens") if isinstance(usage, Mapping) else None
        if isinstance(total, int) and not isinstance(total, bool) and total >= 0:
            return total
    return terms.chat_tokens


async def stream_false(terms: Terms) -> Step:
    """Write `stream: false` out, as several clients always do: one plain completion comes back."""
    answer = await completed(terms, "stream_false", {"stream": False})
    return answer if isinstance(answer, Step) else passed("stream_false", answer)


async def max_completion_tokens(terms: Terms) -> Step:
    """Give the length under its new name. A refusal breaks only the clients that know no other."""
    name = "max_completion_tokens"
    if terms.parameter == NEW_NAME:
        return Step(Rung.CHANNEL, name, Status.OK, say={"told_by": "chat"})
    answer = await completed(terms, name, {}, parameter=NEW_NAME)
    if not isinstance(answer, Step):
        return passed(name, answer)
    refused = answer.evidence is not None and answer.evidence.status in (400, 422)
    if not refused or answer.status is not Status.DOWN:
        return answer
    # The chat passed a moment ago with nothing but the other name, so the words do not matter.
    reason = Reason.MAX_TOKENS_PARAM_UNSUPPORTED
    say = {**answer.say, "clients": SEND_NEW_NAME}
    return replace(answer, status=Status.DEGRADED, reason=reason, candidates=(reason,), say=say)


async def responses(terms: Terms) -> Step:
    """Ask whether the other route of OpenAI's is served too: worth knowing, never a fault."""
    name = "responses"
    cannot = unpayable(terms, name, RESPONSE_TOKENS)
    if cannot is not None:
        return cannot
    asked = {"input": USER[0]["content"], "max_output_tokens": RESPONSE_TOKENS}
    answer = await post(terms, responses_url(terms.spec.base_url), asked)
    return passed(name, answer, {"supported": _supported(answer), "clients": NEED_RESPONSES})


def _supported(answer: Answer) -> str:
    if answer.body is not None:
        is_response = isinstance(answer.body, Mapping) and isinstance(answer.body.get("output"), list)
        return "yes" if is_response else "no"
    served_elsewhere = answer.got.status is not None and 200 <= answer.got.status < 300
    return "no" if served_elsewhere or status_text(answer) in ("404", "405", "501") else "unknown"
