"""The reply, read once: which form its body has and what its error fields say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from checks.verdict.words import BODY_CAP, SAID_CAP, Words

PARSE_CAP = 2 * 1024 * 1024
"""Characters of a body that are parsed as JSON; the engine's own cap on a body is lower."""
PAGE_CAP = 16 * 1024
"""Characters of a web page whose words are read."""
_EVENTS = 400

_HTML_START = re.compile(r"\s{0,64}(?:<!--|<!doctype html|<html|<head|<body|<script|<title|<center|<h1)")
_SSE_START = re.compile(r"\s{0,64}(?:data:|event:|id:|retry:|: ?\w)")
_TAG = re.compile(r"<(?:script|style)\b.{0,2000}?</(?:script|style)>|<[^<>]{0,600}>", re.S | re.I)
_NOT_WORD = re.compile(r"[^a-z0-9]+")


class Form(StrEnum):
    """What the body is, before anything is made of its words."""

    NONE = "none"
    EMPTY = "empty"
    HTML = "html"
    TEXT = "text"
    COMPLETION = "completion"
    ERROR_OBJECT = "error object"
    ERROR_STRING = "error string"
    FLAT_ERROR = "object error"
    TOP_LEVEL = "top level"
    DETAIL = "detail"
    PROBLEM = "problem"
    OTHER_JSON = "other json"


ERROR_FORMS = frozenset(
    (Form.ERROR_OBJECT, Form.ERROR_STRING, Form.FLAT_ERROR, Form.TOP_LEVEL, Form.DETAIL, Form.PROBLEM)
)


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply. `status` is None when there was none. `codes` are the squeezed (lower case,
    letters and digits only) values of every code-like field at any depth; `said` is what the
    error says in lower case: codes, parameter names and messages, or the plain text of a page.
    `value` is the parsed JSON (the first event that holds an error, or the last, for a stream)."""

    status: int | None
    headers: Mapping[str, str]
    media: str
    text: str
    form: Form
    value: object
    codes: frozenset[str]
    params: str
    message: str
    said: str
    is_sse: bool
    is_ndjson: bool
    is_array: bool
    events: tuple[object, ...]
    done: bool

    @property
    def is_json(self) -> bool:
        """Whether the body held JSON, streamed or whole."""
        return self.form not in (Form.NONE, Form.EMPTY, Form.HTML, Form.TEXT)

    @property
    def is_error(self) -> bool:
        """Whether the body is one of the known error envelopes."""
        return self.form in ERROR_FORMS

    @property
    def choices(self) -> list[object] | None:
        """The `choices` list of the answer; None where there is none."""
        found = self.value.get("choices") if isinstance(self.value, dict) else None
        return found if isinstance(found, list) else None


def squeeze(value: object) -> str:
    """Reduce a code to lower-case letters and digits, so that spellings of one code agree."""
    return _NOT_WORD.sub("", str(value)[:120].lower())


def read_answer(status: int | None, headers: Mapping[str, str], body: str) -> Answer:
    """Parse a reply. Never raises for any text; unknown shapes are `Form.TEXT` or `OTHER_JSON`."""
    low = {str(k).lower(): str(v) for k, v in headers.items()}
    media = low.get("content-type", "").split(";")[0].strip().lower()
    whole = body[:PARSE_CAP].lstrip("\ufeff\u200b \t\r\n")
    value, events, done, lines = _load(whole, media)
    form = _form(status, whole, media, value, bool(events))
    words = Words()
    if form not in (Form.COMPLETION, Form.NONE, Form.EMPTY):
        if form in (Form.HTML, Form.TEXT):
            words.messages.append(_plain(whole[:PAGE_CAP]) if form is Form.HTML else whole[:SAID_CAP])
            words.loose(whole[:SAID_CAP])
        else:
            words.walk(value, 0)
    message = " ".join(words.messages)[:SAID_CAP]
    said = " ".join((" ".join(sorted(words.raw_codes)), " ".join(words.params), message)).lower()
    return Answer(
        status=status,
        headers=MappingProxyType(low),
        media=media,
        text=whole[:BODY_CAP],
        form=form,
        value=value,
        codes=frozenset(squeeze(code) for code in words.raw_codes),
        params=" ".join(words.params).lower()[:500],
        message=message,
        said=said[: SAID_CAP + 1024],
        is_sse=bool(events) and not lines,
        is_ndjson=lines,
        is_array=whole.startswith("[") and value is not None,
        events=events,
        done=done,
    )


def _load(whole: str, media: str) -> tuple[object, tuple[object, ...], bool, bool]:
    """Return (value, events, done, is_ndjson)."""
    if not whole:
        return None, (), False, False
    parsed = _json(whole)
    if parsed is not None:
        return _unwrapped(parsed), (), False, "ndjson" in media or "jsonl" in media
    if media == "text/event-stream" or _SSE_START.match(whole[:100]):
        events, done = _sse(whole)
        if events or done:
            return _telling(events), tuple(events), done, False
    lines = [line for line in whole[: 4 * BODY_CAP].splitlines() if line.strip()][:_EVENTS]
    if len(lines) > 1 and lines[0].lstrip().startswith("{"):
        items = [item for item in map(_json, lines) if item is not None]
        if len(items) > 1 or (items and "[DONE]" in whole[-200:]):
            return _telling(items), tuple(items), "[DONE]" in whole[-200:], True
    return _glued(whole)


def _glued(whole: str) -> tuple[object, tuple[object, ...], bool, bool]:
    """Read one JSON value that has something behind it ("{...}data: [DONE]")."""
    if whole[0] not in "{[":
        return None, (), False, False
    try:
        value, end = json.JSONDecoder().raw_decode(whole)
    except (ValueError, RecursionError):
        return None, (), False, False
    rest = whole[end : end + 400]
    if "[DONE]" in rest or "data:" in rest:
        return value, (value,), "[DONE]" in rest, True
    return None, (), False, False


def _json(text: str) -> object:
    """Parse JSON; None when it is none (a bare `null` is none, too)."""
    if text[:1] not in '{["-0123456789tfn' and text[:1].strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _unwrapped(value: object) -> object:
    """Take an error out of a one-element array (Gemini) or a JSON string (some relays)."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        inner = _json(value.strip())
        return value if inner is None else _unwrapped(inner)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return value[0]
    return value


def _sse(whole: str) -> tuple[list[object], bool]:
    events: list[object] = []
    done = False
    for line in whole[: 4 * BODY_CAP].splitlines():
        if len(events) >= _EVENTS:
            break
        head, _, rest = line.strip().partition(":")
        if head != "data":
            continue
        if rest.strip().endswith("[DONE]"):
            done = True
            continue
        item = _json(rest.strip())
        if item is not None:
            events.append(item)
    return events, done


def _telling(events: list[object]) -> object:
    """The event that carries an error, else the last one."""
    for event in events:
        if isinstance(event, dict) and (event.get("error") or event.get("object") == "error"):
            return event
    return events[-1] if events else None


def _form(status: int | None, whole: str, media: str, value: object, streamed: bool) -> Form:
    if status is None and not whole:
        return Form.NONE
    if not whole:
        return Form.EMPTY
    if isinstance(value, dict):
        return _object_form(status, value, media)
    if value is not None or streamed:
        return Form.OTHER_JSON
    head = whole[:400].lower()
    if _HTML_START.match(head) or (media == "text/html" and "<" in head) or "<html" in head:
        return Form.HTML
    return Form.TEXT


def _object_form(status: int | None, value: dict[object, object], media: str) -> Form:
    error = value.get("error")
    if isinstance(error, dict) and error:
        return Form.ERROR_OBJECT
    if isinstance(error, str) and error:
        return Form.ERROR_STRING
    if value.get("object") == "error" or value.get("type") == "error":
        return Form.FLAT_ERROR
    if media == "application/problem+json" or (
        "title" in value and "status" in value and "choices" not in value
    ):
        return Form.PROBLEM
    if _is_completion(value):
        return Form.COMPLETION
    if "detail" in value:
        return Form.DETAIL
    names = {str(name).lower() for name in value}
    worded = names & {"message", "msg", "error_msg", "errmsg", "error_message", "errors"}
    if worded or names & {"error_code", "errcode", "base_resp"}:
        return Form.TOP_LEVEL
    if "code" in names and (status or 0) >= 400:
        return Form.TOP_LEVEL
    return Form.OTHER_JSON


def _is_completion(value: dict[object, object]) -> bool:
    """Whether a body is a real answer of one of the dialects: chat, models, messages, responses."""
    if isinstance(value.get("choices"), list):
        return True
    if isinstance(value.get("data"), list) and not value.get("message"):
        return True
    return (
        value.get("object") in ("chat.completion", "list", "response", "model")
        or value.get("type") == "message"
    )


def _plain(page: str) -> str:
    return " ".join(_TAG.sub(" ", page).split())[:SAID_CAP]
