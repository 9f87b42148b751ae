"""The `dotenv` flavour: one file that every reader which strips quotes reads alike.

Such readers disagree on the backslash, on `$` and on mixed quotes, so a value with these is not written.
"""

from __future__ import annotations

from checks.dialects.document import (
    BARE,
    Document,
    Entry,
    Rule,
    Show,
    Unfit,
    as_it_is,
    read_lines,
    refuse_unprintable,
    spell,
    write_lines,
)


def encode(value: str) -> str:
    """Spell a value bare, else in single, else in double quotes. Raises `Unfit`."""
    refuse_unprintable(value)
    if BARE.fullmatch(value):
        return value
    if "\\" in value or "$" in value:
        raise Unfit(Rule.DOLLAR_OR_BACKSLASH)
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"`":
        raise Unfit(Rule.WRAPPED_IN_QUOTES)
    if "'" not in value:
        return f"'{value}'"
    if '"' in value or "`" in value:
        raise Unfit(Rule.MIXED_QUOTES)
    return f'"{value}"'


def write(document: Document, show: Show = as_it_is) -> str:
    """Write `NAME=value` lines. Raises `Unfit`."""
    return write_lines(document, lambda entry: f"{entry.name}={spell(entry, show, encode)}")


def read(text: str) -> tuple[Entry, ...]:
    """Read back what `write` wrote. Raises `Unreadable`."""
    return read_lines(text, _decode)


def _decode(spelling: str) -> str | None:
    if BARE.fullmatch(spelling):
        return spelling
    quote = spelling[:1]
    if len(spelling) < 2 or quote not in "'\"" or spelling[-1] != quote or quote in spelling[1:-1]:
        return None
    return spelling[1:-1]
