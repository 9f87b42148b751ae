"""What a configuration file says, before any dialect spells it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from checks.spec import Masked

MAX_VALUE_BYTES = 60 * 1024
"""Docker stops at longer lines of an env file, and a process cannot be handed much longer ones."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BARE = re.compile(r"(?!=)(?!.*:=)[A-Za-z0-9_.:/@%+,=-]+")
"""A value that needs no quotes anywhere, not even where quotes would become part of it."""

# C0, DEL, C1 and the two Unicode line ends: readers cut, strip or execute what follows one.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Rule(StrEnum):
    """Why a flavour cannot carry a value or a name; `sentence` says it in English."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> Rule:
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member

    BAD_NAME = "bad_name", "A name has letters, digits and underscores, and begins with no digit."
    TOO_LONG = "too_long", "The value is longer than 60 KiB."
    CONTROL_CHARACTER = "control_character", "The value holds a control character or a line break."
    SURROGATE = "surrogate", "The value holds half a character, which has no bytes."
    DOLLAR_OR_BACKSLASH = "dollar_or_backslash", "Readers of this flavour disagree on $ and on the backslash."
    MIXED_QUOTES = "mixed_quotes", "Readers of this flavour disagree on quotes of several kinds in one value."
    WRAPPED_IN_QUOTES = (
        "wrapped_in_quotes",
        "Readers of this flavour disagree on a value that begins and ends in quotes.",
    )


class Unfit(ValueError):
    """A value that the flavour at hand cannot carry. Never says the value."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule.sentence)
        self.rule = rule


class Unreadable(ValueError):
    """A text that is not of the flavour. `line` counts from 1; the text itself is not repeated."""

    def __init__(self, line: int) -> None:
        super().__init__(f"Line {line} is not of this flavour.")
        self.line = line


@dataclass(frozen=True, slots=True)
class Entry:
    """One name and its value, which its representation does not show.

    `extends` names variables of the reading shell whose values go behind this one, each after a comma
    that stays where the variable is not set. Only the `sh` flavour does that, and only for a `BARE`
    value; else the value stands alone.
    """

    name: str
    value: str | Masked = field(repr=False)
    extends: tuple[str, ...] = ()

    def text(self) -> str:
        """The value as it goes into the file."""
        return self.value.reveal() if isinstance(self.value, Masked) else self.value


@dataclass(frozen=True, slots=True)
class Block:
    """Entries that belong together, under comments. `table` is a TOML table's name and means nothing to
    the line dialects; "" is the top of the file."""

    entries: tuple[Entry, ...] = ()
    comments: tuple[str, ...] = ()
    table: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole file: comments at its head, then its blocks."""

    blocks: tuple[Block, ...]
    header: tuple[str, ...] = ()


Show = Callable[[Masked, str], str]
"""Given a secret and its spelling in a dialect, what to put in the spelling's place."""

Encode = Callable[[str], str]
"""Spell one value, or raise `Unfit`."""


def as_it_is(secret: Masked, spelling: str) -> str:
    """Put a secret's own spelling: the file that is meant to hold it."""
    return spelling


def comment(text: str) -> str:
    """One comment line of plain ASCII, whatever a person named things.

    A trailing backslash goes: systemd and make would swallow the line below.
    """
    flat = "".join(" " if _CONTROL.match(char) else char for char in text)
    return f"# {flat.encode('ascii', 'backslashreplace').decode()}".rstrip("\\ ")


def refuse_unprintable(value: str) -> None:
    """Raise `Unfit` for what no line dialect carries: control characters, half characters, vast values."""
    if _SURROGATE.search(value):
        raise Unfit(Rule.SURROGATE)
    if _CONTROL.search(value):
        raise Unfit(Rule.CONTROL_CHARACTER)
    if len(value.encode()) > MAX_VALUE_BYTES:
        raise Unfit(Rule.TOO_LONG)


def write_lines(document: Document, line: Callable[[Entry], str]) -> str:
    """Write a line dialect: UTF-8, LF, a final newline, no comment beside a value."""
    lines = [comment(text) for text in document.header]
    for block in document.blocks:
        lines += [""] if lines else []
        lines += [comment(text) for text in block.comments]
        lines += [line(entry) for entry in block.entries]
    return "\n".join(lines) + "\n"


def spell(entry: Entry, show: Show, encode: Encode) -> str:
    """Spell one entry's value, a secret as `show` wants it."""
    spelling = encode(entry.text())
    return show(entry.value, spelling) if isinstance(entry.value, Masked) else spelling


def read_lines(text: str, decode: Callable[[str], str | None], before: str = "") -> tuple[Entry, ...]:
    """Read lines of `before`, a name, `=`, a spelling; `decode` returns None where it is not its own."""
    entries = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line or line.startswith("#"):
            continue
        name, sign, spelling = line.removeprefix(before).partition("=")
        value = decode(spelling) if sign and line.startswith(before) and NAME.fullmatch(name) else None
        if value is None:
            raise Unreadable(number)
        entries.append(Entry(name, value))
    return tuple(entries)
