"""Keys as people paste them: cleaned at the ends, refused where no client could send them.

Nothing here ever puts a key, or a piece of one, into an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from checks.pasted import Edit, is_blank, name_character, tidy
from checks.spec import Masked

MAX_BYTES = 4096
"""Some consumers of a bundle lose longer lines without a word."""

LAST_FOUR_FROM = 12
"""Shorter keys show no last four: it would be too much of them."""

# Public beginnings, told apart by their vendors; nothing of them is secret. Longer ones first.
_PREFIXES = (
    *("sk-svcacct-", "sk-or-v1-", "sk-proj-", "sk-test-", "sk-ant-", "sk-", "pk-"),
    *("gsk_", "hf_", "xai-", "nvapi-", "AIza", "eyJ", "fw_", "r8_"),
)
_BEARER = re.compile(r"(?:authorization\s*:\s*)?bearer(?:\s+.*)?", re.IGNORECASE | re.DOTALL)
_ASSIGNMENT = re.compile(
    r"(?:export|set|setx)\s.*"
    r"|\$env:.*"
    r"|(?i:[a-z_][a-z0-9_-]*(?:key|token|secret)|key|token)\s*[=:]\s*[^\s=].*"
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\s*=\s*[^\s=].*",
    re.DOTALL,
)
_MASKED = re.compile(r"\*{2,}|\.{3,}|[•●∙·]{2,}|…")
_PLACEHOLDER = re.compile(
    r"<.*>|\{.*\}|\$\{.*\}|\$[A-Za-z_]\w*|%\w+%|\[.*\]"
    r"|(?:sk[-_])?(?:your|insert|enter|paste|put|replace)(?:[-_ ].*|(?:api)?key.*|me)?"
    r"|(?:sk[-_])?(?:proj[-_])?x{3,}(?:[-_]x+)*"
    r"|change[-_ ]?me|(?:the[-_ ])?api[-_ ]?key(?:[-_ ]here)?"
    r"|key|token|secret|none|null|undefined|todo|tbd|sk-",
    re.IGNORECASE | re.DOTALL,
)


class KeyProblem(StrEnum):
    """Why a key is refused; `sentence` says it in English."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> KeyProblem:
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member

    EMPTY = "empty", "There is no key."
    TOO_LONG = "too_long", f"A key has at most {MAX_BYTES} bytes."
    BEARER = "bearer", "Paste the key without the word Bearer: clients add it themselves."
    ASSIGNMENT = "assignment", "The name of a variable was pasted with the key; paste what follows the sign."
    MASKED = "masked", "This is a key with its middle hidden, as pages show it; copy the whole key."
    PLACEHOLDER = "placeholder", "This is a placeholder from an example, not a key."
    INNER_BLANK = "inner_blank", "There is a blank or a line break inside the key."
    CONTROL_CHARACTER = "control_character", "The key holds a control character, which no header can carry."
    NON_ASCII = "non_ascii", "A character of the key is not ASCII, which no header can carry."


class KeyRefused(ValueError):
    """A key is refused. Neither the text nor the representation holds any of it.

    `position` counts characters of the raw text from 1; None where no one character is to blame.
    `character` names it in ASCII ("U+200B ZERO WIDTH SPACE"), else is empty.
    """

    def __init__(self, problem: KeyProblem, position: int | None = None, character: str = "") -> None:
        super().__init__(f"{problem.sentence} {character}".rstrip())
        self.problem = problem
        self.position = position
        self.character = character


@dataclass(frozen=True, slots=True)
class CleanKey:
    """A key that any client can send, and what was taken off its ends."""

    value: Masked
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyShape:
    """What may be shown of a key. `prefix` is a vendor's public beginning or empty; `last_four` is
    empty for a key shorter than `LAST_FOUR_FROM` characters."""

    length: int
    prefix: str
    last_four: str


def clean_key(raw: str) -> CleanKey:
    """Take blanks and one pair of quotes off the ends, or raise `KeyRefused`."""
    tidied = tidy(raw)
    text = tidied.text
    if not text:
        raise KeyRefused(KeyProblem.EMPTY)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise KeyRefused(KeyProblem.TOO_LONG)
    problem = _misunderstanding(text)
    if problem:
        raise KeyRefused(problem)
    for index, char in enumerate(text):
        if not "!" <= char <= "~":
            raise KeyRefused(_character_problem(char), tidied.offset + index + 1, name_character(char))
    return CleanKey(Masked(text), tidied.edits)


def describe(value: Masked) -> KeyShape:
    """Say of a key only what a page may show."""
    key = value.reveal()
    prefix = next((prefix for prefix in _PREFIXES if key.startswith(prefix)), "")
    return KeyShape(len(key), prefix, key[-4:] if len(key) >= LAST_FOUR_FROM else "")


def _misunderstanding(text: str) -> KeyProblem | None:
    """Find what was pasted in a key's stead, before its characters are judged one by one."""
    if _BEARER.fullmatch(text):
        return KeyProblem.BEARER
    if _ASSIGNMENT.fullmatch(text):
        return KeyProblem.ASSIGNMENT
    if _PLACEHOLDER.fullmatch(text):
        return KeyProblem.PLACEHOLDER
    if _MASKED.search(text):
        return KeyProblem.MASKED
    return None


def _character_problem(char: str) -> KeyProblem:
    if is_blank(char):
        return KeyProblem.INNER_BLANK
    if char < " " or "\x7f" <= char <= "\x9f":
        return KeyProblem.CONTROL_CHARACTER
    return KeyProblem.NON_ASCII
