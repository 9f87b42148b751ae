"""The `sh` flavour: `export` lines that POSIX shells and fish read alike, for every printable value."""

from __future__ import annotations

import re

from checks.dialects.document import (
    BARE,
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

_EXTENDED = re.compile(r'"([^"$]+)(?:,\$\{[A-Za-z_][A-Za-z0-9_]*-\})+"')


def encode(value: str) -> str:
    """Spell all in single quotes, runs of `'` and backslash in double ones. Raises `Unfit`."""
    refuse_unprintable(value)
    chunks = [chunk for chunk in re.split(r"(['\\]+)", value) if chunk]
    return "".join(map(_quote, chunks)) or "''"


def write(document: Document, show: Show = as_it_is) -> str:
    """Write `export NAME='value'` lines. Raises `Unfit`.

    A line that extends what is set is beyond fish, but safe under `set -u`; python-dotenv reads it too.
    """
    return write_lines(document, lambda entry: f"{_EXPORT}{entry.name}={_spell(entry, show)}")


def read(text: str) -> tuple[Entry, ...]:
    """Read back what `write` wrote, without what it extends. Raises `Unreadable`."""
    return read_lines(text, _decode, _EXPORT)


def _spell(entry: Entry, show: Show) -> str:
    if not entry.extends or not BARE.fullmatch(entry.text()):
        return spell(entry, show, encode)
    return f'"{entry.text()}{"".join(f",${{{name}-}}" for name in entry.extends)}"'


def _quote(chunk: str) -> str:
    if chunk[0] in "'\\":
        return '"' + chunk.replace("\\", "\\\\") + '"'
    return f"'{chunk}'"


def _decode(spelling: str) -> str | None:
    extended = _EXTENDED.fullmatch(spelling)
    if extended:
        return extended[1]
    chunks = list(_CHUNK.finditer(spelling))
    if not chunks or "".join(chunk[0] for chunk in chunks) != spelling:
        return None
    return "".join(chunk["single"] or (chunk["double"] or "").replace("\\\\", "\\") for chunk in chunks)
