"""An exception that repeats the server's answer: its status and body, read back out of the text."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from checks.outcome import FailureKind
from checks.verdict.answer import read_answer
from checks.verdict.view import View
from checks.verdict.words import embedded

_STATUS = re.compile(
    r"(?:error code|status(?:[ _]?code)?|http(?:/\d(?:\.\d)?)?|unexpected status|api error|returned"
    r"|response)[ :=(\"']{1,4}(?P<a>[45]\d\d)\b"
    r"|\b(?P<b>[45]\d\d) (?:client error|server error|bad request|unauthorized|forbidden|not found"
    r"|too many requests|unprocessable)"
    r"|^\s{0,8}(?P<c>[45]\d\d)[ :]"
)
# The classes by which SDKs name a status (openai, anthropic, litellm).
_CLASSES: tuple[tuple[str, int], ...] = (
    ("authenticationerror", 401),
    ("permissiondenied", 403),
    ("notfounderror", 404),
    ("unprocessableentity", 422),
    ("ratelimiterror", 429),
    ("contextwindowexceeded", 400),
    ("contentpolicyviolation", 400),
    ("badrequesterror", 400),
    ("unsupportedparams", 400),
    ("serviceunavailable", 503),
    ("badgatewayerror", 502),
)


def told_answer(view: View) -> View | None:
    """The same exchange with the answer that the exception's text repeats; None when it repeats none."""
    match = _STATUS.search(view.failure_text)
    if match is None or view.kind is FailureKind.PROXY:
        return None
    return _with_answer(view, int(match["a"] or match["b"] or match["c"]))


def told_words(view: View) -> View | None:
    """The exception's text read as a refusal: a client library may refuse with a server's words."""
    if view.kind not in (FailureKind.CLIENT, FailureKind.PROTOCOL):
        return None
    status = next((number for name, number in _CLASSES if name in view.failure_text), 400)
    return _with_answer(view, status)


def _with_answer(view: View, status: int) -> View:
    text = view.evidence.failure.message if view.evidence.failure else ""
    chain = view.evidence.failure.chain if view.evidence.failure else ()
    body = " ".join((text, *(said for _, said in chain[:8])))
    _, _, value = embedded(body)
    if isinstance(value, dict | list):
        return replace(view, answer=read_answer(status, {}, json.dumps(value)))
    return replace(view, answer=read_answer(status, {}, body.lstrip("{[<")))
