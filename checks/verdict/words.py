"""What the fields of an error say: codes, parameters and sentences, at any depth and in any wrapping."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

BODY_CAP = 64 * 1024
"""Characters of a body that patterns may look at."""
SAID_CAP = 8 * 1024
"""Characters of an error's own words that patterns may look at."""
_NODES = 400
_DEPTH = 10
_CODE_KEYS = frozenset(
    [
        "code",
        "type",
        "error_code",
        "errorcode",
        "err_code",
        "errcode",
        "error_type",
        "status",
        "status_code",
        "statuscode",
        "reason",
        "__type",
        "internal_code",
        "err_type",
        "errortype",
    ]
)
_WORD_KEYS = frozenset(
    [
        "message",
        "msg",
        "detail",
        "details",
        "error",
        "error_msg",
        "errmsg",
        "error_message",
        "errormessage",
        "err_msg",
        "title",
        "raw",
        "cause",
        "quotaid",
        "quotametric",
        "retrydelay",
        "error_description",
        "description",
        "reason",
        "hint",
        "status_msg",
        "last_error",
        "reasons",
        "errors",
        "localized_message",
    ]
)
_PARAM_KEYS = frozenset(("param", "loc", "field", "path"))
_SKIPPED_KEYS = frozenset(("input", "choices", "content", "messages", "request", "ctx", "stack", "user_id"))
_LOOSE_CODE = re.compile(
    r"['\"](?:code|type|error_code|status|reason)['\"]\s{0,4}:\s{0,4}['\"]?([\w.:-]{2,80})"
)
_KEY_NAMES = re.compile(
    r"['\"](?:message|type|code|param|error|object|status)['\"]\s{0,4}:|invalid_request_error"
)
# How pydantic's list of errors looks when a server prints it into its message.
_REPR = re.compile(r"^\s{0,4}\[?\{'type': '[\w.]{1,60}', 'loc': \(")
_REPR_PART = re.compile(
    r"'(?P<name>type|loc|msg)': (?P<said>'(?:[^'\\]|\\.){0,400}'|\"[^\"]{0,400}\""
    r"|\([^()]{0,200}\))(?=, '(?:loc|msg|input|url|ctx)'|\})"
)


def embedded(text: str) -> tuple[int, int, object]:
    """The first JSON object or printed Python dict inside a text: (start, end, value); value None if none."""
    start = text.find("{")
    if start < 0:
        return 0, 0, None
    try:
        value, end = json.JSONDecoder().raw_decode(text[:BODY_CAP], start)
    except (ValueError, RecursionError):
        end = text.rfind("}") + 1
        return start, end, _printed(text[start:end])
    return start, end, value


def _printed(text: str) -> object:
    """Read a dict as Python prints it; None for anything else. Size and nesting are bounded first."""
    if (
        not text.startswith("{'")
        or len(text) > SAID_CAP
        or text.count("{") + text.count("[") + text.count("(") > 60
    ):
        return None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class Words:
    """Collects code-like and message-like fields of a JSON body, bounded in depth and number."""

    def __init__(self) -> None:
        self.raw_codes: set[str] = set()
        self.messages: list[str] = []
        self.params: list[str] = []
        self._left = _NODES

    def walk(self, value: object, depth: int, key: str = "") -> None:
        """Visit one value; strings that hold JSON are opened as well."""
        self._left -= 1
        if self._left < 0 or depth > _DEPTH:
            return
        if isinstance(value, dict):
            for name, item in value.items():
                low = str(name).lower()
                if low not in _SKIPPED_KEYS:
                    self._field(low, item, depth)
        elif isinstance(value, list):
            for item in value[:20]:
                self.walk(item, depth + 1, key)
        elif isinstance(value, str) and (key in _WORD_KEYS or not key):
            self._sentence(value, depth)

    def _field(self, low: str, item: object, depth: int) -> None:
        if low in _PARAM_KEYS:
            parts = item if isinstance(item, list) else [item]
            self.params.append(".".join(str(part)[:80] for part in parts[:8] if part is not None))
            return
        if low in _CODE_KEYS and isinstance(item, str | int) and not isinstance(item, bool):
            if len(str(item)) <= 120:
                self.raw_codes.add(str(item))
            if low != "reason":
                return
        self.walk(item, depth + 1, low)

    def _sentence(self, value: str, depth: int) -> None:
        if _REPR.search(value[:400]):
            self._validation(value[: 4 * SAID_CAP])
            return
        start, end, inner = embedded(value)
        if inner is None:
            self.messages.append(_KEY_NAMES.sub(" ", value[:SAID_CAP]))
            self.loose(value[:SAID_CAP])
            return
        self.messages.append(f"{value[:start][:SAID_CAP]} {value[end:][:400]}".strip())
        if depth <= _DEPTH - 2:
            self.walk(inner, depth + 1)

    def _validation(self, text: str) -> None:
        """Take the parts of a validator's printed list; the rest is the caller's own input echoed."""
        for match in list(_REPR_PART.finditer(text))[:20]:
            name, said = match["name"], match["said"].strip("'\"()")
            if name == "type":
                self.raw_codes.add(said[:120])
            elif name == "loc":
                self.params.append(re.sub(r"['\", ]+", ".", said)[:200].strip("."))
            else:
                self.messages.append(said)

    def loose(self, text: str) -> None:
        """Take codes out of text that only looks like JSON (a Python repr, a cut body)."""
        self.raw_codes.update(_found(text))


def _found(text: str) -> Iterator[str]:
    for match in _LOOSE_CODE.finditer(text):
        yield match.group(1)
