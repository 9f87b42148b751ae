"""The `toml` flavour: tables of strings, each file read back with the standard parser before it is given out.

The writer knows a newer TOML than the parser that most programs use, hence the second look.
"""

from __future__ import annotations

import tomllib

import tomlkit

from checks.dialects.document import Document, Entry, Rule, Show, Unfit, Unreadable, as_it_is, comment, spell


def encode(value: str) -> str:
    """Spell a value as a basic string. Raises `Unfit`."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Unfit(Rule.SURROGATE) from None
    return tomlkit.string(value).as_string()


def write(document: Document, show: Show = as_it_is) -> str:
    """Write tables of strings. Raises `Unfit`."""
    text = _render(document, as_it_is)
    if tomllib.loads(text) != _meant(document):
        raise AssertionError("A TOML file does not say what was meant.")
    return text if show is as_it_is else _render(document, show)


def read(text: str) -> tuple[Entry, ...]:
    """Read back what `write` wrote, names as `table.name`. Raises `Unreadable`."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise Unreadable(1) from None
    return tuple(_entries("", tables))


def _render(document: Document, show: Show) -> str:
    lines = [comment(text) for text in document.header]
    for block in document.blocks:
        lines += [""] if lines else []
        lines += [comment(text) for text in block.comments]
        lines += [f"[{block.table}]"] if block.table else []
        lines += [f"{entry.name} = {spell(entry, show, encode)}" for entry in block.entries]
    return "\n".join(lines) + "\n"


def _meant(document: Document) -> dict[str, object]:
    meant: dict[str, object] = {}
    for block in document.blocks:
        entries = {entry.name: entry.text() for entry in block.entries}
        meant |= {block.table: entries} if block.table else entries
    return meant


def _entries(table: str, values: dict[str, object]) -> list[Entry]:
    entries: list[Entry] = []
    for name, value in values.items():
        if isinstance(value, dict) and not table:
            entries += _entries(f"{name}.", value)
        elif isinstance(value, str):
            entries.append(Entry(table + name, value))
        else:
            raise Unreadable(1)
    return entries
