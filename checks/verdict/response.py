"""Answers of 200 that are no completion, or an empty one."""

from __future__ import annotations

import re

from checks.outcome import FailureKind
from checks.reason import Reason
from checks.verdict.answer import Form
from checks.verdict.rules import Rule, failing
from checks.verdict.tools import first_choice, message_of
from checks.verdict.view import View

KEPT_TEXT = 32 * 1024
"""Characters of a body that evidence keeps; a longer one arrives cut."""

_CODED = failing(
    Reason.NON_JSON_BODY,
    r"incorrect header check|decodingerror|decompress|zlib|brotli|gzip|content.?encoding"
    r"|jsondecodeerror|expecting value|unexpected token|not valid json"
    r"|invalid character .{0,12}looking for"
    r"|is not json|unexpected end of json|could not (?:parse|decode)|invalid json|codec can.?t decode"
    r"|unexpected non-whitespace|extra data|unmarshal|序列化|解析失败",
)
_PAGE_AS_JSON = failing(
    Reason.BASE_URL_HTML_PAGE,
    r"'str' object has no attribute|unexpected token '?<|invalid character '<'|<!doctype|<html|got str"
    r"|valid json.{0,40}<",
)
_NO_CHOICES = failing(
    Reason.CHOICES_MISSING_ERROR_BODY,
    r"keyerror: '?choices|'nonetype' object is not (?:subscriptable|iterable)|no (?:key "
    r"|attribute )?'?choices|null value for 'choices'|reading '(?:0|choices|message)'"
    r"|list index out of range|indexerror|did not contain any choices|missing choices"
    r"|object has no attribute 'choices'",
)
FAILURES: tuple[Rule, ...] = (_PAGE_AS_JSON, _NO_CHOICES, _CODED)


def died_in_protocol(view: View) -> Reason | None:
    """Any other message that could not be read."""
    return Reason.NON_JSON_BODY if view.kind is FailureKind.PROTOCOL else None


def error_inside(view: View) -> Reason | None:
    """A 2xx whose JSON is an error or another schema: no choices."""
    if not 200 <= (view.status or 0) < 300 or not view.answer.is_json or view.answer.form is Form.COMPLETION:
        return None
    return Reason.CHOICES_MISSING_ERROR_BODY


def no_choice(view: View) -> Reason | None:
    """A whole answer whose list of choices is empty."""
    if view.answer.choices != [] or view.answer.is_sse or view.evidence.params.get("stream"):
        return None
    return Reason.CHOICES_MISSING_ERROR_BODY


def not_json(view: View) -> Reason | None:
    """A 2xx of neither JSON nor a page (a long JSON that was cut for keeping proves nothing)."""
    if view.answer.text.startswith("{") and len(view.evidence.body) >= KEPT_TEXT:
        return None
    if 200 <= (view.status or 0) < 300 and view.answer.form in (Form.TEXT, Form.EMPTY):
        return Reason.NON_JSON_BODY
    return None


def thought_only(view: View) -> Reason | None:
    """Nothing was said because the budget went into thinking."""
    if view.answer.form is not Form.COMPLETION or view.answer.is_sse or not view.answer.choices:
        return None
    message = message_of(view)
    if not message or message.get("tool_calls") or _said(message.get("content")):
        return None
    if message.get("reasoning_content") or message.get("reasoning") or _reasoned(view):
        return Reason.CONTENT_EMPTY_REASONING
    usage = view.answer.value.get("usage") if isinstance(view.answer.value, dict) else None
    spent = usage.get("completion_tokens") if isinstance(usage, dict) else None
    if first_choice(view).get("finish_reason") == "length" and spent in (0, 1):
        return Reason.CONTEXT_LENGTH_EXCEEDED
    worked = isinstance(spent, int) and spent > 1
    return (
        Reason.CONTENT_EMPTY_REASONING
        if worked or first_choice(view).get("finish_reason") == "length"
        else None
    )


def _said(content: object) -> bool:
    if isinstance(content, list):
        return any(content)
    text = content if isinstance(content, str) else ""
    return bool(re.sub(r"(?s)<think>.{0,60000}?(?:</think>|$)", "", text).strip())


def _reasoned(view: View) -> bool:
    value = view.answer.value
    usage = value.get("usage") if isinstance(value, dict) else None
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    counted = details.get("reasoning_tokens") if isinstance(details, dict) else None
    return isinstance(counted, int) and counted > 0


SHAPES: tuple[Rule, ...] = (thought_only, no_choice, error_inside, not_json)
