"""From what a client printed to its likely causes: the search field for error texts."""

from __future__ import annotations

import re

from checks.outcome import Evidence, Failure, FailureKind
from checks.reason import Reason
from checks.verdict.classify import classify

TEXT_CAP = 8 * 1024
"""Characters of a pasted text that are read; of a longer one the beginning and, above all, the end."""
HEAD_READ = 1024

# "Connection error." is one text for eight causes, since the SDK hides what it caught.
_HIDDEN = (
    Reason.CONNECTION_REFUSED_LOOPBACK,
    Reason.PROXY_UNREACHABLE,
    Reason.BASE_URL_MALFORMED,
    Reason.AUTH_KEY_MALFORMED,
    Reason.HTTPS_TO_HTTP_PORT,
    Reason.TLS_UNTRUSTED_CA,
    Reason.DNS_NXDOMAIN,
    Reason.CONNECTION_REFUSED_REMOTE,
    Reason.STREAM_TRUNCATED,
    Reason.NON_JSON_BODY,
)
_NO_COMPLETION = (
    Reason.CHOICES_MISSING_ERROR_BODY,
    Reason.BASE_URL_HTML_PAGE,
    Reason.BASE_URL_MISSING_V1,
    Reason.STREAM_FRAMING_MISMATCH,
    Reason.CHOICES_EMPTY_CHUNK,
)
_PAGE = (
    Reason.BASE_URL_HTML_PAGE,
    Reason.BASE_URL_MISSING_V1,
    Reason.STREAM_FRAMING_MISMATCH,
    Reason.NON_JSON_BODY,
    Reason.REDIRECT_BROKEN,
)

# What the clients print for replies and failures; measured with openai 1 to 3, langchain, litellm, dspy,
# pydantic-ai, node openai, the AI SDK and the Agent-Lightning gateway. First match wins.
_TABLE: tuple[tuple[str, tuple[Reason, ...]], ...] = (
    (
        r"local[ _-]?proxy failed|cc[ -]?switch",
        (Reason.LOCAL_PROXY_UPSTREAM_FAILED, Reason.PROXY_ENV_INTERCEPTS_LOOPBACK),
    ),
    (r"keyerror: ['\"]?choices", _NO_COMPLETION),
    (r"'str' object has no attribute|got str: ?['\"]?<|cannot use 'in' operator", _PAGE),
    (r"empty or invalid response from llm", _PAGE),
    (
        r"got str\b|expected json|is not json|invalid json response",
        (
            Reason.BASE_URL_HTML_PAGE,
            Reason.CHOICES_MISSING_ERROR_BODY,
            Reason.NON_JSON_BODY,
            Reason.STREAM_FRAMING_MISMATCH,
            Reason.BASE_URL_MISSING_V1,
        ),
    ),
    (
        r"null value for ['\"]?choices|no ['\"]?choices|missing ['\"]?choices|\(reading ['\"](?:0"
        r"|choices)['\"]\)",
        _NO_COMPLETION,
    ),
    (
        r"'nonetype' object is not (?:subscriptable|iterable)|'nonetype' object has no attribute",
        _NO_COMPLETION,
    ),
    (
        r"list index out of range|indexerror|reading ['\"]message['\"]|did not contain any choices",
        (Reason.CHOICES_EMPTY_CHUNK, Reason.CHOICES_MISSING_ERROR_BODY),
    ),
    (
        r"jsondecodeerror|expecting value: line 1|unexpected token ['\"]?<|unexpected end of json"
        r"|is not valid json",
        (
            Reason.BASE_URL_HTML_PAGE,
            Reason.NON_JSON_BODY,
            Reason.BASE_URL_MISSING_V1,
            Reason.STREAM_FRAMING_MISMATCH,
        ),
    ),
    (
        r"models?notfounderror|lmunsupportedmodelerror",
        (
            Reason.MODEL_NOT_FOUND,
            Reason.BASE_URL_MISSING_V1,
            Reason.BASE_URL_WRONG_PATH,
            Reason.MODEL_NO_PERMISSION,
        ),
    ),
    (r"unsupported upstream path", (Reason.API_DIALECT_MISMATCH,)),
    (
        r"upstream model server request failed|error proxying request|server is not healthy"
        r"|no (?:backend llm )?servers available",
        (Reason.SERVER_NOT_READY, Reason.CONNECTION_REFUSED_REMOTE, Reason.ENGINE_CRASHED),
    ),
    (
        r"(?:api)?timeout ?error|request timed out|readtimeout",
        (Reason.REQUEST_TIMEOUT, Reason.CONNECT_TIMEOUT, Reason.GATEWAY_TIMEOUT),
    ),
    (
        r"connection error\b|api ?connection ?error|openaiconnectionerror|modelconnectionerror"
        r"|fetch failed|terminated$",
        _HIDDEN,
    ),
    (
        r"retryerror|internalservererror$",
        (Reason.UPSTREAM_OVERLOADED, Reason.RATE_LIMITED, Reason.ENGINE_CRASHED),
    ),
)
_ROWS = tuple((re.compile(pattern), reasons) for pattern, reasons in _TABLE)
# Texts so short that they say no more than themselves; a longer one is first read for its own cause.
_BARE = 160
# Statuses in a pasted text, for the case that nothing else in it speaks.
_STATUS = re.compile(r"\b([45]\d\d)\b")
_BY_STATUS: dict[str, tuple[Reason, ...]] = {
    "401": (
        Reason.AUTH_INVALID_KEY,
        Reason.AUTH_MISSING_HEADER,
        Reason.AUTH_KEY_REGION_MISMATCH,
        Reason.AUTH_KEY_WRONG_PROVIDER,
        Reason.ENV_SHADOWED,
    ),
    "402": (Reason.QUOTA_EXHAUSTED,),
    "403": (
        Reason.MODEL_NO_PERMISSION,
        Reason.AUTH_INSUFFICIENT_SCOPE,
        Reason.WAF_CHALLENGE,
        Reason.REGION_BLOCKED,
    ),
    "404": (
        Reason.BASE_URL_MISSING_V1,
        Reason.MODEL_NOT_FOUND,
        Reason.BASE_URL_WRONG_PATH,
        Reason.BASE_URL_DOUBLE_V1,
    ),
    "405": (Reason.BASE_URL_WRONG_PATH, Reason.BASE_URL_MISSING_V1, Reason.REDIRECT_BROKEN),
    "407": (Reason.PROXY_AUTH_REQUIRED,),
    "413": (Reason.PAYLOAD_TOO_LARGE, Reason.RATE_LIMITED),
    "429": (Reason.RATE_LIMITED, Reason.QUOTA_EXHAUSTED, Reason.UPSTREAM_OVERLOADED),
    "500": (Reason.ENGINE_CRASHED, Reason.UPSTREAM_OVERLOADED),
    "502": (Reason.BAD_GATEWAY_UPSTREAM_DOWN, Reason.PROXY_ENV_INTERCEPTS_LOOPBACK),
    "503": (Reason.SERVER_NOT_READY, Reason.MODEL_NO_CHANNEL, Reason.UPSTREAM_OVERLOADED),
    "504": (Reason.GATEWAY_TIMEOUT,),
}


def causes_of(text: str) -> tuple[Reason, ...]:
    """The reasons that make a client print this text, most likely first; empty when none is known.

    Never raises. `text` may be one line, a traceback or a whole JSON answer.
    """
    pasted = _shortened(text.strip())
    if not pasted:
        return ()
    low = pasted.lower()
    listed = next((reasons for pattern, reasons in _ROWS if pattern.search(low)), ())
    own = _read(pasted)
    if listed and (len(pasted) < _BARE or not own):
        return tuple(dict.fromkeys((*listed, *own)))
    found = tuple(dict.fromkeys((*own, *listed)))
    match = _STATUS.search(low)
    return found or (_BY_STATUS.get(match[1], ()) if match else ())


def _shortened(text: str) -> str:
    """A traceback names its error in its last lines."""
    if len(text) <= TEXT_CAP:
        return text
    return f"{text[:HEAD_READ]}\n{text[HEAD_READ - TEXT_CAP :]}"


def _read(text: str) -> tuple[Reason, ...]:
    """Judge the text as the only evidence."""
    failure = Failure(FailureKind.CLIENT, text)
    verdict = classify(Evidence(url="https://endpoint.example/v1/chat/completions", failure=failure))
    return () if verdict.reason is Reason.UNEXPLAINED else verdict.candidates
