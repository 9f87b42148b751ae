"""The `sh` flavour: `export` lines that POSIX shells and fish read alike, for every printable value."""

from __future__ import annotations

import re

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

_EXPORT = "export "
_CHUNK = re.compile(r"'(?P<single>[^'\\]*)'|\"(?P<double>(?:'|\\\\)+)\"")

_EXTENSION = re.compile(r'^"(?:\$\{([A-Za-z_][A-Za-z0-9_]*):\+\$\1,\})+"')


def encode(value: str) -> str:
    """Spell all in single quotes, runs of `'` and backslash in double ones. Raises `Unfit`."""
    refuse_unprintable(value)
    chunks = [chunk for chunk in re.split(r"(['\\]+)", value) if chunk]
    return "".join(map(_quote, chunks)) or "''"


def write(document: Document, show: Show = as_it_is) -> str:
    """Write `export NAME='value'` lines. Raises `Unfit`.

    A line that extends what is set is for POSIX shells alone, but safe under `set -u`.
    """
    return write_lines(
        document, lambda entry: f"{_EXPORT}{entry.name}={_extension(entry)}{spell(entry, show, encode)}"
    )


def read(text: str) -> tuple[Entry, ...]:
    """Read back what `write` wrote, without what it extends. Raises `Unreadable`."""
    return read_lines(text, _decode, _EXPORT)


def _extension(entry: Entry) -> str:
    known = "".join(f"${{{name}:+${name},}}" for name in entry.extends)
    return known and f'"{known}"'


def _quote(chunk: str) -> str:
    if chunk[0] in "'\\":
        return '"' + chunk.replace("\\", "\\\\") + '"'
    return f"'{chunk}'"


def _decode(spelling: str) -> str | None:
    spelling = _EXTENSION.sub("", spelling)
    chunks = list(_CHUNK.finditer(spelling))
    if not chunks or "".join(chunk[0] for chunk in chunks) != spelling:
        return None
    return "".join(chunk["single"] or (chunk["double"] or "").replace("\\\\", "\\") for chunk in chunks)
