"""Tool calling: refused, half allowed, out of step, unread or unreadable."""

from __future__ import annotations

import json
import re

from checks.reason import Reason
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, row, table
from checks.verdict.view import View

_REFUSALS = (400, 404, 422, 500, 501, 502)

bad_arguments = table(
    row(
        Reason.TOOL_ARGS_INVALID_JSON,
        r"unterminated string|(?:tool|function)[\w\[\]. _-]{0,40}arguments?.{0,80}(?:json|parse|decode"
        r"|invalid|valid|must be|object)|(?:invalid|malformed|parse|decode).{0,60}(?:tool"
        r"|function)[\w\[\]. _-]{0,40}arguments?|arguments.{0,30}(?:not valid json|invalid json"
        r"|valid json)|failed to parse tool[ _-]?call",
        "",
        _REFUSALS,
    )
)
history = table(
    row(
        Reason.TOOL_HISTORY_INVALID,
        r"tool_call_ids?|empty tool_calls|tool_calls?.{0,40}in (?:the )?messages?"
        r"|must be followed by tool|insufficient tool|tool_use.{0,120}(?:tool_result|without|ids)"
        r"|tool_result|tool[ _]call[ _]ids? (?:was|must|is|should|not)|preceding message with|(?:role"
        r"|messages?) .{0,6}['\"]?tool['\"]?.{0,30}(?:must|follow|response|preced)|function call turn"
        r"|function response parts?|same number of function calls|unexpected (?:tool|role 'tool')"
        r"|tool messages?|tool calls? and (?:tool )?(?:responses|results)"
        r"|tool_calls.{0,40}(?:not followed|without|must be)|no tool (?:call|output) found"
        r"|工具调用.{0,20}(?:不匹配|缺少|结果)",
        "",
        _REFUSALS,
    )
)
choice = table(
    row(Reason.TOOL_CHOICE_UNSUPPORTED, r"tool_?choice|forced (?:tool|function)|tool choice", "", _REFUSALS),
)
unsupported = table(
    row(
        Reason.TOOLS_UNSUPPORTED_BY_MODEL,
        r"(?:not|n.t|no) support(?:s|ed)?.{0,20}(?:tools?\b|function|tool[ _-](?:use|call))|(?:tools?"
        r"|functions?|function[ _-]?call(?:s|ing)?|tool[ _-]?(?:use|call(?:s"
        r"|ing)?))\b.{0,60}(?:not (?:supported|available|enabled|allowed|implemented)|unsupported"
        r"|disabled)|不支持.{0,16}(?:工具|函数|function|tool)|support tool use|(?:unsupported"
        r"|unrecogni[sz]ed|unknown|extra).{0,40}['\"\[ ]tools?['\"\]\b]|\['tools'|tools? param",
        "",
        _REFUSALS,
    )
)
# Groq refuses with this code what other servers hand out as text.
unread = table(
    row(
        Reason.TOOL_CALLS_UNPARSED,
        r"failed to call a function|failed_generation",
        "tool_use_failed",
        _REFUSALS,
    )
)
ANSWERS: tuple[Rule, ...] = (unread, bad_arguments, history, choice, unsupported)

_CALL_TEXT = re.compile(
    r"<tool_call|<function[=_]|<\|?tool[_▁]call|<｜tool|\[tool_calls\]|<\|python_tag\|>"
    r"|<\|channel\|>commentary|function_call|<invoke\b|\{\s{0,4}\"(?:name|function|tool|tool_name"
    r"|action)\"\s{0,4}:\s{0,4}\"[^\"]{1,100}\"\s{0,4},\s{0,4}\"(?:arguments|parameters|args|input"
    r"|action_input)\"|<tools?>|✿function|<\|tool"
)


def first_choice(view: View) -> dict[str, object]:
    """The first choice of a completion; empty when there is none."""
    choices = view.answer.choices
    return choices[0] if choices and isinstance(choices[0], dict) else {}


def message_of(view: View) -> dict[str, object]:
    """The first choice's message (or delta); empty when there is none."""
    choice_ = first_choice(view)
    found = choice_.get("message") or choice_.get("delta")
    return found if isinstance(found, dict) else {}


def unparsed(view: View) -> Reason | None:
    """The call stands as text in the content: the server's parser does not know this model."""
    message = message_of(view)
    if message.get("tool_calls") or view.answer.form is not Form.COMPLETION:
        return None
    content = _all_text(view)
    if not content or not _CALL_TEXT.search(content[:20000].lower()):
        return None
    asked = view.evidence.params.get("tools") or view.evidence.params.get("functions")
    return Reason.TOOL_CALLS_UNPARSED if asked or "tools" not in view.evidence.params else None


def _all_text(view: View) -> str:
    message = message_of(view)
    parts = [message.get("content"), message.get("reasoning_content")]
    for event in view.answer.events:
        for item in (event.get("choices") or ()) if isinstance(event, dict) else ():
            delta = item.get("delta") if isinstance(item, dict) else None
            parts.append(delta.get("content") if isinstance(delta, dict) else None)
    return "".join(part for part in parts if isinstance(part, str))


def unreadable(view: View) -> Reason | None:
    """A call came whose arguments are not JSON."""
    calls = message_of(view).get("tool_calls")
    if view.answer.is_sse or not isinstance(calls, list):
        return None
    for call in calls[:50]:
        function = call.get("function") if isinstance(call, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(arguments, str) and not _is_object(arguments):
            return Reason.TOOL_ARGS_INVALID_JSON
    return None


def _is_object(text: str) -> bool:
    if not text.strip():
        return True
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


SHAPES: tuple[Rule, ...] = (unreadable, unparsed)
