"""TOML: values from the standard reader, lines from a look at the file, which that reader does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Final

from checks.lint.parse.document import MAX_DEPTH, MAX_ITEMS, shown_key
from checks.lint.roles import role_of
from checks.lint.sheet import Contents, Fault, Item, Path, Scalar

_HEADER: Final = re.compile(r"\s*\[{1,2}\s*(?P<name>[^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?")
_KEY: Final = re.compile(
    r"\s*(?P<name>(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)"
    r"\s*=\s*(?P<raw>.*)"
)
# The standard reader takes time by the square of a dotted key's length.
_TOO_DEEP: Final = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]+[ \t]*\.[ \t]*){{{MAX_DEPTH}}}")
_AT: Final = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_PART: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)")


def parse_toml(text: str) -> Contents:
    """Read a TOML document; one that cannot be read is read line by line, as far as that goes."""
    deep = _TOO_DEEP.search(text)
    if deep:
        line = text.count("\n", 0, deep.start()) + 1
        return Contents((), (), (Fault("document_too_deep", line),))
    places = _places(text)
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        fault = _fault(str(error), text)
        return Contents(tuple(_by_line(places)), (), (fault,), _maps(places))
    except (RecursionError, ValueError, OverflowError):
        return Contents((), (), (Fault("document_too_deep", 1),))
    lines = {path: line for path, line, _ in places}
    items = tuple(_flat(tree, lines))
    return Contents(items, maps=_maps(places))


def _fault(said: str, text: str) -> Fault:
    at = _AT.search(said)
    line = int(at[1]) if at and at[1] else text.count("\n") + 1
    problem = re.sub(r"'[^']*'|\"[^\"]*\"|[^ -~]", "…", _AT.sub("", said))[:120]
    return Fault("toml_syntax", line, facts={"problem": problem})


def _places(text: str) -> list[tuple[Path, int, str]]:
    """Return path, line and text behind the sign of each `key =`, outside of strings of many lines."""
    found: list[tuple[Path, int, str]] = []
    table: Path = ()
    counts: dict[Path, int] = {}
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        if fence:
            fence = "" if fence in line else fence
            continue
        header = _HEADER.fullmatch(line)
        key = None if header else _KEY.match(line)
        if header:
            table = _table(line, _parts(header["name"]), counts)
        elif key and len(found) < MAX_ITEMS:
            found.append(((*table, *_parts(key["name"])), number, key["raw"]))
            fence = next((mark for mark in ('"""', "'''") if key["raw"].count(mark) == 1), "")
    return found


def _table(line: str, parts: Path, counts: dict[Path, int]) -> Path:
    if not line.lstrip().startswith("[["):
        return parts
    counts[parts] = counts.get(parts, -1) + 1
    return (*parts, counts[parts])


def _parts(name: str) -> Path:
    return tuple(match[1] or match[2] or match[3] or "" for match in _PART.finditer(name))


def _maps(places: list[tuple[Path, int, str]]) -> dict[Path, int]:
    maps: dict[Path, int] = {}
    for path, line, _ in places:
        maps.setdefault(path[:-1], line)
    return maps


def _flat(tree: dict[str, object], lines: dict[Path, int]) -> Iterator[Item]:
    """Yield the leaves in the order of the file; a stack of its own, so depth costs nothing."""
    stack: list[tuple[Path, object]] = [((), tree)]
    left = MAX_ITEMS
    while stack and left:
        path, value = stack.pop()
        left -= 1
        if len(path) > MAX_DEPTH:
            continue
        if isinstance(value, dict):
            stack += [((*path, name), inner) for name, inner in reversed(value.items())]
        elif isinstance(value, list):
            stack += [((*path, index), inner) for index, inner in reversed(list(enumerate(value)))]
        else:
            yield _leaf(path, value, _line(path, lines))


def _line(path: Path, lines: dict[Path, int]) -> int:
    """The line of a path, or of the nearest place above it that has one."""
    return next((lines[path[:size]] for size in range(len(path), 0, -1) if path[:size] in lines), 1)


def _leaf(path: Path, value: object, line: int) -> Item:
    name = str(path[-1]) if isinstance(path[-1], str) else ""
    scalar = _scalar(value)
    text = value if isinstance(value, str) else str(value)
    end = line + text.count("\n")
    return Item(
        name,
        shown_key(path),
        text,
        line,
        role_of(name),
        end,
        path,
        str(path[:-1]),
        scalar,
        scalar is Scalar.TEXT,
    )


def _scalar(value: object) -> Scalar:
    if isinstance(value, bool):
        return Scalar.TRUTH
    if isinstance(value, datetime | date | time):
        return Scalar.DATE
    return Scalar.TEXT if isinstance(value, str) else Scalar.NUMBER


def _by_line(places: list[tuple[Path, int, str]]) -> Iterator[Item]:
    for path, line, raw in places:
        found = re.match(r"\"([^\"\\]*)\"|'([^']*)'", raw)
        if found and path:
            yield _leaf(path, found[1] if found[1] is not None else found[2] or "", line)
