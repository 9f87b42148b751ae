"""What rides along when a value is pasted: blanks nobody sees, quotes, full-width look-alikes."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum

# Drawn as nothing or as a blank, yet neither white space nor a format character to Unicode.
_BLANK_LOOKALIKES = frozenset("\u115f\u1160\u2800\u3164\uffa0")
# Straight, and curly as word processors and input methods set them: often the same sign at both ends.
_QUOTE_PAIRS = frozenset(
    ['""', "''"]
    + [opening + closing for opening in "\u201c\u201d\u201e" for closing in "\u201c\u201d"]
    + [opening + closing for opening in "\u2018\u2019\u201a" for closing in "\u2018\u2019"]
)


class Edit(StrEnum):
    """One thing that was changed in a pasted value; `sentence` says it in English."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> Edit:
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member

    STRIPPED_BLANKS = "stripped_blanks", "Blanks or invisible characters at the ends were taken off."
    STRIPPED_QUOTES = "stripped_quotes", "The quotes around the value were taken off."
    LOWER_CASED_SCHEME = "lower_cased_scheme", "The scheme was written in lower case."
    LOWER_CASED_HOST = "lower_cased_host", "The host name was written in lower case."
    REWROTE_IPV6 = "rewrote_ipv6", "The IPv6 address was written in its short form."
    COLLAPSED_SLASHES = "collapsed_slashes", "Doubled slashes in the path were made one."
    DROPPED_TRAILING_SLASH = "dropped_trailing_slash", "The slash at the end was dropped."
    CUT_OPERATION = "cut_operation", "The operation at the end was cut; each client appends its own."


@dataclass(frozen=True, slots=True)
class Tidied:
    """`text` without its wrapping. `offset` is where it begins in the raw value, counted from 0."""

    text: str
    offset: int
    edits: tuple[Edit, ...]


def is_blank(char: str) -> bool:
    """Whether one character is white space of any kind or draws nothing (no-break, zero-width, BOM)."""
    return char.isspace() or unicodedata.category(char) == "Cf" or char in _BLANK_LOOKALIKES


def tidy(raw: str) -> Tidied:
    """Take blanks of every kind off both ends, then one matching pair of quotes, straight or curly."""
    start, end = _within_blanks(raw, 0, len(raw))
    stripped = end - start < len(raw)
    quoted = end - start >= 2 and raw[start] + raw[end - 1] in _QUOTE_PAIRS
    if quoted:
        inner = start + 1, end - 1
        start, end = _within_blanks(raw, *inner)
        stripped = stripped or (start, end) != inner
    edits = ((Edit.STRIPPED_BLANKS,) if stripped else ()) + ((Edit.STRIPPED_QUOTES,) if quoted else ())
    return Tidied(raw[start:end], start, edits)


def name_character(char: str) -> str:
    """Name one character in ASCII: "U+FF1A FULLWIDTH COLON"; the number alone where Unicode has no name."""
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()


def without_lookalikes(text: str) -> str:
    """Put ASCII for full-width letters and signs, and drop what draws nothing."""
    kept = (char for char in text if unicodedata.category(char) != "Cf" and char not in _BLANK_LOOKALIKES)
    return "".join(_to_ascii(char) for char in kept)


def _to_ascii(char: str) -> str:
    if "\uff01" <= char <= "\uff5e":
        return chr(ord(char) - 0xFEE0)
    return "." if char in "\u3002\uff61" else char


def _within_blanks(raw: str, start: int, end: int) -> tuple[int, int]:
    while start < end and is_blank(raw[start]):
        start += 1
    while end > start and is_blank(raw[end - 1]):
        end -= 1
    return start, end
