"""The `line` flavour: `NAME=value` to the letter, for readers that keep quotes (docker, podman, kubectl)."""

from __future__ import annotations

from checks.dialects.document import (
    Document,
    Entry,
    Show,
    as_it_is,
    read_lines,
    refuse_unprintable,
    spell,
    write_lines,
)


def encode(value: str) -> str:
    """Spell a value as itself. Raises `Unfit`."""
    refuse_unprintable(value)
    return value


def write(document: Document, show: Show = as_it_is) -> str:
    """Write the lines. Raises `Unfit`."""
    return write_lines(document, lambda entry: f"{entry.name}={spell(entry, show, encode)}")


def read(text: str) -> tuple[Entry, ...]:
    """Read back what `write` wrote. Raises `Unreadable`."""
    return read_lines(text, _decode)


def _decode(spelling: str) -> str:
    return spelling
