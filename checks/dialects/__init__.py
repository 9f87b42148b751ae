"""Configuration dialects: exact writers and exact readers, one module a flavour.

A value is either read back to the letter by every reader of its flavour, or it is refused and the
flavours that can carry it are named. Nothing is written on a guess.
"""

from __future__ import annotations

from collections.abc import Callable

from checks.dialects import dotenv, line, shell, toml
from checks.dialects.document import (
    NAME,
    Block,
    Document,
    Encode,
    Entry,
    Rule,
    Show,
    Unfit,
    Unreadable,
    as_it_is,
)

__all__ = [
    "ENCODERS",
    "READERS",
    "WRITERS",
    "Block",
    "Document",
    "Entry",
    "Rule",
    "Show",
    "Unreadable",
    "Unwritable",
    "carriers",
    "write",
]

WRITERS: dict[str, Callable[[Document, Show], str]] = {
    "dotenv": dotenv.write,
    "sh": shell.write,
    "toml": toml.write,
    "line": line.write,
}

READERS: dict[str, Callable[[str], tuple[Entry, ...]]] = {
    "dotenv": dotenv.read,
    "sh": shell.read,
    "toml": toml.read,
    "line": line.read,
}

ENCODERS: dict[str, Encode] = {
    "dotenv": dotenv.encode,
    "sh": shell.encode,
    "toml": toml.encode,
    "line": line.encode,
}


class Unwritable(ValueError):
    """The flavour cannot carry the value of `variable`; `carried_by` names the flavours that can.

    Neither the text nor the representation holds the value.
    """

    def __init__(self, variable: str, flavour: str, rule: Rule, carried_by: tuple[str, ...]) -> None:
        able = ", ".join(carried_by) or "none"
        super().__init__(
            f"{variable} cannot be written as {flavour}. {rule.sentence} Flavours that can: {able}."
        )
        self.variable = variable
        self.flavour = flavour
        self.rule = rule
        self.carried_by = carried_by


def write(flavour: str, document: Document, show: Show = as_it_is) -> str:
    """Write a document in a flavour of `WRITERS`. Raises `Unwritable`; a name twice is a ValueError."""
    for block in document.blocks:
        for entry in block.entries:
            _refuse(flavour, entry)
    _refuse_twice(document)
    return WRITERS[flavour](document, show)


def carriers(value: str) -> tuple[str, ...]:
    """The flavours whose own encoder takes the value."""
    return tuple(flavour for flavour, encode in ENCODERS.items() if _unfit(encode, value) is None)


def _refuse(flavour: str, entry: Entry) -> None:
    if not NAME.fullmatch(entry.name):
        raise Unwritable(entry.name, flavour, Rule.BAD_NAME, ())
    rule = _unfit(ENCODERS[flavour], entry.text())
    if rule is not None:
        raise Unwritable(entry.name, flavour, rule, carriers(entry.text()))


def _unfit(encode: Encode, value: str) -> Rule | None:
    try:
        encode(value)
    except Unfit as unfit:
        return unfit.rule
    return None


def _refuse_twice(document: Document) -> None:
    names = [(block.table, entry.name) for block in document.blocks for entry in block.entries]
    twice = sorted({name for table, name in names if names.count((table, name)) > 1})
    if twice:
        raise ValueError(f"Names that stand twice in one file: {', '.join(twice)}")
