"""The mask: makes text fit to be kept and shown, without keys, authorization headers, URL passwords."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, quote_plus

from checks.outcome import Evidence
from checks.spec import Masked

MASK: Final = "[masked]"
SHORTEST_SECRET: Final = 4  # "EMPTY", "none" and "x" are words people type where no key is needed
WHOLE_WORD_BELOW: Final = 8  # a short key is masked only where it stands alone, or ordinary text would break
LONGEST_TAIL: Final = 4  # what a reader may see of a key to recognise it
LONGEST_HEAD: Final = 8  # the vendor's public prefix, such as "sk-proj-"

# What a key looks like that nobody told us of: some letters it cannot be without, which are quicker to
# look for than the pattern; the pattern; what takes its place.
_SHAPES: Final[tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...]] = (
    (("@",), re.compile(r"(://)[^/\s@\"'<>]+@"), rf"\1{MASK}@"),
    (
        ("earer", "EARER", "asic", "ASIC"),
        re.compile(r"(?i)\b(bearer|basic)((?:\s|%20|\+)+)[^\s\"'<>,;\\]{8,}"),
        rf"\1\2{MASK}",
    ),
    (
        ("sk-", "rk-", "pk-", "xai-", "nvapi-", "sess-"),
        re.compile(r"(?<![A-Za-z0-9])(?:sk|rk|pk|xai|nvapi|sess)-[A-Za-z0-9_\-.]{8,}"),
        MASK,
    ),
    (
        ("hf", "gsk", "r8", "pplx", "AIza"),
        re.compile(r"(?<![A-Za-z0-9])(?:hf|gsk|r8|pplx|AIza)[_\-]?[A-Za-z0-9_\-]{20,}"),
        MASK,
    ),
    (
        ("eyJ",),
        re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{4,}(?:\.[A-Za-z0-9_\-]*)?"),
        MASK,
    ),
    (
        ("key=", "oken=", "sig=", "ature="),
        re.compile(r"(?i)([?&](?:api[_-]?key|key|token|access_token|sig|signature)=)[^&\s\"'<>]{6,}"),
        rf"\1{MASK}",
    ),
    (
        ("key", "Key", "KEY"),
        re.compile(r"(?i)((?:x-)?api[_-]?key[\"']?\s*[:=]\s*[\"']?)[A-Za-z0-9_\-.]{16,}"),
        rf"\1{MASK}",
    ),
)
_ANY_NEEDLE: Final = re.compile("|".join(re.escape(part) for needles, _, _ in _SHAPES for part in needles))
# NUL breaks databases, escapes steer terminals, direction marks turn text around, half surrogates cannot
# be encoded: upstream text may hold them all.
_UNSAFE: Final = {
    **{code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r"},
    **{code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


class Redactor:
    """Masks given secrets in every written form, whatever has the shape of a key, unsafe characters.

    Made once for many strings. Secrets shorter than four characters are not treated as secrets.
    """

    __slots__ = ("_forms", "_secrets", "_words")

    def __init__(self, secrets: Iterable[Masked]) -> None:
        values = sorted({secret.reveal() for secret in secrets}, key=len, reverse=True)
        self._secrets = [value for value in values if len(value) >= WHOLE_WORD_BELOW]
        self._forms = [form for value in self._secrets for form in _written_forms(value)]
        short = [re.escape(value) for value in values if SHORTEST_SECRET <= len(value) < WHOLE_WORD_BELOW]
        self._words = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(short)})(?![A-Za-z0-9])") if short else None

    def __repr__(self) -> str:
        return "Redactor([masked])"

    def text(self, text: str) -> str:
        """Return `text` without secrets and with unsafe characters written as escapes; the same object
        when there was nothing to change."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        if self._words is not None:
            text = self._words.sub(MASK, text)
        for secret in self._secrets:
            text = _without_pieces(text, secret)
        if not text.isprintable():
            text = text.translate(_UNSAFE)
        return _without_shapes(text) if len(text) > WHOLE_WORD_BELOW else text

    def value(self, value: Any) -> Any:
        """Return `value` with each string in it masked, through dataclasses, mappings and sequences."""
        kind: Any = type(value)
        form = _form_of(kind)
        if form is _Form.TEXT:
            return self.text(value)
        if form is _Form.PLAIN:
            return value
        if form is _Form.SECRET:
            return MASK
        if form is _Form.RECORD:
            return self._record(value)
        if form is _Form.MAPPING:
            return {self.value(name): self.value(part) for name, part in value.items()}
        return type(value)([self.value(part) for part in value])

    def _record(self, record: Any) -> Any:
        changed: dict[str, Any] = {}
        kind: Any = type(record)
        for name in _columns(kind):
            old = getattr(record, name)
            new = self.value(old)
            if new is not old and new != old:
                changed[name] = new
        return replace(record, **changed) if changed else record


def redact(text: str, secrets: Iterable[Masked]) -> str:
    """Return `text` without the secrets in plain, URL, base64 and JSON form, and without key shapes."""
    return Redactor(secrets).text(text)


def redact_evidence(evidence: Evidence, secrets: Iterable[Masked]) -> Evidence:
    """Return `evidence` with every field masked."""
    masked: Evidence = Redactor(secrets).value(evidence)
    return masked


class _Form(Enum):
    TEXT, PLAIN, SECRET, RECORD, MAPPING, SEQUENCE = range(6)


@lru_cache(maxsize=256)
def _form_of(kind: Any) -> _Form:
    """How values of this class are masked: a walk meets the same few classes again and again."""
    if kind is str:
        return _Form.TEXT
    if issubclass(kind, Masked):
        return _Form.SECRET
    if is_dataclass(kind):
        return _Form.RECORD
    if issubclass(kind, Mapping):
        return _Form.MAPPING
    return _Form.SEQUENCE if issubclass(kind, (tuple, list)) else _Form.PLAIN


@lru_cache(maxsize=64)
def _columns(kind: Any) -> tuple[str, ...]:
    return tuple(column.name for column in fields(kind))


def _without_shapes(text: str) -> str:
    if _ANY_NEEDLE.search(text) is None:
        return text
    for needles, shape, mask in _SHAPES:
        if any(needle in text for needle in needles):
            text = shape.sub(mask, text)
    return text


def _written_forms(secret: str) -> list[str]:
    """Every way a server, a log or an exception may write `secret`, the longest first."""
    quoted = quote(secret, safe="", errors="replace")
    forms = {
        secret,
        quoted,
        re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), quoted),
        quote(secret, errors="replace"),
        quote_plus(secret, errors="replace"),
        html.escape(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret)[1:-1].replace("/", "\\/"),
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        secret.encode("utf-8", "replace").hex(),
        *_base64_forms(secret.encode("utf-8", "replace")),
    }
    return sorted(forms, key=len, reverse=True)


def _base64_forms(secret: bytes) -> set[str]:
    """The part of a base64 text that `secret` alone decides, at each of the three alignments, so that
    it is found inside "Basic <user:key>" as well as alone."""
    forms: set[str] = set()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + secret).decode().rstrip("=")
        skip = (offset * 8 + 5) // 6
        usable = encoded[skip : (offset + len(secret)) * 8 // 6]
        forms |= {usable, usable.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= WHOLE_WORD_BELOW}


def _without_pieces(text: str, secret: str) -> str:
    """Mask a head or a tail of `secret` that says more than a reader needs to recognise it: the work
    of a server that masks badly, or of a cap that cut the text in the middle of the key."""
    head = secret[: LONGEST_HEAD + 1]
    if len(secret) > len(head) and head in text:
        text = _mask_heads(text, secret, head)
    tail = secret[-(LONGEST_TAIL + 1) :]
    if tail in text:
        text = _mask_tails(text, secret, tail)
    return text


def _mask_heads(text: str, secret: str, head: str) -> str:
    parts = text.split(head)
    rest = secret[len(head) :]
    return parts[0] + "".join(MASK + part[_common_length(part, rest) :] for part in parts[1:])


def _mask_tails(text: str, secret: str, tail: str) -> str:
    """A tail is masked behind a server's own mask characters or when eight letters agree; five letters
    alone may be an ordinary word."""
    parts = text.split(tail)
    before = secret[: -len(tail)][::-1]
    for index, part in enumerate(parts[:-1]):
        shared = _common_length(part[::-1], before)
        left = part[: len(part) - shared]
        told = shared + len(tail) >= WHOLE_WORD_BELOW or left[-1:] in ("*", ".", "…", "•", "·")
        parts[index] = left + MASK + tail[-LONGEST_TAIL:] if told else part + tail
    return "".join(parts)


def _common_length(one: str, other: str) -> int:
    """How many leading characters the two share."""
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
