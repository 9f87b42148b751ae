"""What agent frameworks add to a call unasked: worth knowing before the agent meets a refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from checks.outcome import Status, Step
from checks.probes.chat import ANSWER_TOKENS, PROMPT
from checks.probes.contracts.agent import CALL_PROMPT, TOOLS
from checks.probes.contracts.question import PACE, USER, Message, Terms, completed, passed

FEW_TOKENS: Final = 64
REFUSALS: Final = frozenset({400, 404, 405, 413, 415, 422, 501})

_PICTURE: Final = (  # 32 x 32 white dots; some servers take no smaller one
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgAQAAAABbAUdZAAAAD0lEQVR42mP4DwQMg5cAANrpf4Em8vpjAAAAAElFTkSuQmCC"
)
_SCHEMA: Final = {
    "name": "word",
    "strict": True,
    "schema": {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
}


async def forced_tool(terms: Terms) -> Step:
    """Force a tool, as some frameworks do for structured output."""
    messages = ({"role": "user", "content": CALL_PROMPT},)
    fields = {"tools": TOOLS, "tool_choice": "required"}
    return await _accepted(terms, "forced_tool", fields, messages, ANSWER_TOKENS)


async def json_schema(terms: Terms) -> Step:
    """Ask for an answer by a JSON schema, as the others do."""
    messages = ({"role": "user", "content": f"{PROMPT} Answer in JSON."},)
    fields = {"response_format": {"type": "json_schema", "json_schema": _SCHEMA}}
    return await _accepted(terms, "json_schema", fields, messages, ANSWER_TOKENS)


async def developer_role(terms: Terms) -> Step:
    """Give the instructions under the role that newer frameworks use for them."""
    messages = ({"role": "developer", "content": "Be brief."}, *USER)
    return await _accepted(terms, "developer_role", {}, messages)


async def content_parts(terms: Terms) -> Step:
    """Send the text as a list of parts instead of a string."""
    messages = ({"role": "user", "content": [{"type": "text", "text": PROMPT}]},)
    return await _accepted(terms, "content_parts", {}, messages)


async def image(terms: Terms) -> Step:
    """Send a picture beside the text."""
    parts = [{"type": "text", "text": PROMPT}, {"type": "image_url", "image_url": {"url": _PICTURE}}]
    return await _accepted(terms, "image", {}, ({"role": "user", "content": parts},))


async def template_kwargs(terms: Terms) -> Step:
    """Switch thinking off by a field of the chat template: strict servers refuse what they do not know."""
    fields = {"chat_template_kwargs": {"enable_thinking": False}}
    return await _accepted(terms, "template_kwargs", fields, USER)


async def _accepted(
    terms: Terms,
    name: str,
    fields: Mapping[str, object],
    messages: Sequence[Message],
    tokens: int = FEW_TOKENS,
) -> Step:
    """Say "yes", "no" with the code of the refusal, or "unknown": never a fault of the lane."""
    answer = await completed(terms, name, fields, messages=messages, tokens=tokens)
    if not isinstance(answer, Step):
        return passed(name, answer, {"accepted": "yes"})
    if answer.status is Status.NOT_TESTABLE or answer.reason in PACE:
        return answer
    refused = answer.evidence is not None and answer.evidence.status in REFUSALS
    say = {**answer.say, "accepted": "no" if refused else "unknown", "refused": str(answer.reason or "")}
    return replace(answer, status=Status.OK, reason=None, candidates=(), say=say)
