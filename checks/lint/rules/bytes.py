"""Rules on bytes and characters: marks, line ends, encodings, signs that nobody sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from checks.lint.finding import CONFIG_SYNTAX, Hit, Rule, Severity, caution, error
from checks.lint.readers import Take
from checks.lint.rules.codes import VITAL, spoilt
from checks.lint.sheet import Format, Item, Role, Sheet
from checks.pasted import is_blank, name_character

_SMART: Final = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u2032\u2033\u00b4\uff02\uff07"
_FULL_WIDTH: Final = re.compile(r"[\uff1d\uff1a]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
_FULL_WIDTH_LINE: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.]*)\s*([\uff1d\uff1a])")
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_BOM: Final = b"\xef\xbb\xbf"


def _byte_order_mark(sheet: Sheet) -> Iterator[Hit]:
    if not sheet.data.startswith(_BOM):
        return
    first = sheet.items[0] if sheet.items else None
    if sheet.format in (Format.TOML, Format.JSON):
        yield Hit(1, facts={"reader": sheet.format.value})
    elif sheet.format.by_lines and first and first.line == 1:
        dialect = sheet.reading.dialect
        if not dialect.known:
            yield Hit(1, first.key, {"reader": "shell"}, severity=Severity.WARNING)
        elif dialect.bom in (Take.LOST, Take.REFUSED):
            yield Hit(1, first.key, {"reader": dialect.name})


def _windows_line_ends(sheet: Sheet) -> Iterator[Hit]:
    if not sheet.format.by_lines or b"\r\n" not in sheet.data:
        return
    dialect = sheet.reading.dialect
    if dialect.known and not dialect.keeps_cr:
        return
    line = sheet.data.count(b"\n", 0, sheet.data.index(b"\r\n")) + 1
    vital = next(sheet.of(Role.KEY, Role.BASE), None)
    where = vital.line if vital else line
    yield Hit(
        where,
        vital.key if vital else "",
        {"reader": dialect.name if dialect.known else "shell"},
        code=spoilt(vital.role if vital else Role.OTHER),
        severity=Severity.ERROR if dialect.known else Severity.WARNING,
    )


def _lone_carriage_return(sheet: Sheet) -> Iterator[Hit]:
    found = re.search(r"\r(?!\n)", sheet.text)
    if found:
        yield Hit(sheet.text.count("\n", 0, found.start()) + 1)


def _not_utf8(sheet: Sheet) -> Iterator[Hit]:
    if sheet.data.startswith(_UTF16):
        return
    try:
        sheet.data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = sheet.data.count(b"\n", 0, problem.start) + 1
        yield Hit(line, facts={"byte": f"0x{sheet.data[problem.start]:02X}"})


def _utf16(sheet: Sheet) -> Iterator[Hit]:
    if sheet.data.startswith(_UTF16):
        yield Hit(1)


def _control_character(sheet: Sheet) -> Iterator[Hit]:
    found = _CONTROL.search(sheet.text)
    if found and not sheet.data.startswith(_UTF16):
        line = sheet.text.count("\n", 0, found.start()) + 1
        yield Hit(line, facts={"character": name_character(found[0])})


def _unseen_character(sheet: Sheet) -> Iterator[Hit]:
    """A no-break space, a zero-width character: readers keep most of them, and no eye finds them."""
    for item in sheet.items:
        where = next((i for i, c in enumerate(item.value) if c not in " \t\r\n" and is_blank(c)), None)
        if where is not None and item.role in VITAL:
            facts = {"character": name_character(item.value[where]), "position": str(where + 1)}
            yield Hit(item.line, item.key, facts, code=spoilt(item.role))
    for item in sheet.items:
        bad = next((c for c in item.name if is_blank(c)), None)
        if bad:
            yield Hit(item.line, facts={"character": name_character(bad), "position": "1"})


def _smart_quotes(sheet: Sheet) -> Iterator[Hit]:
    for item in sheet.items:
        edges = _edge(item)
        if edges and item.role is not Role.OTHER:
            yield Hit(item.line, item.key, {"character": name_character(edges)}, code=spoilt(item.role))


def _edge(item: Item) -> str:
    value = item.value.strip()
    return next((sign for sign in (value[:1], value[-1:]) if sign and sign in _SMART), "")


def _full_width_sign(sheet: Sheet) -> Iterator[Hit]:
    """An input method's equals sign or colon: the line assigns nothing."""
    if not sheet.format.by_lines and sheet.format is not Format.YAML:
        return
    for number, text in enumerate(sheet.lines, 1):
        match = _FULL_WIDTH_LINE.match(text[:400]) if _FULL_WIDTH.search(text) else None
        if match and not text.lstrip().startswith("#"):
            yield Hit(number, match[1][:80], {"character": name_character(match[2])})


def _no_final_newline(sheet: Sheet) -> Iterator[Hit]:
    if sheet.format.by_lines and sheet.items and not sheet.text.endswith(("\n", "\r")):
        yield Hit(len(sheet.lines))


RULES: Final[Mapping[str, Rule]] = {
    "utf16": error(CONFIG_SYNTAX, _utf16),
    "not_utf8": error(CONFIG_SYNTAX, _not_utf8),
    "byte_order_mark": error(CONFIG_SYNTAX, _byte_order_mark),
    "control_character": error(CONFIG_SYNTAX, _control_character),
    "windows_line_ends": error(CONFIG_SYNTAX, _windows_line_ends),
    "lone_carriage_return": error(CONFIG_SYNTAX, _lone_carriage_return),
    "smart_quotes": error(CONFIG_SYNTAX, _smart_quotes),
    "full_width_sign": error(CONFIG_SYNTAX, _full_width_sign),
    "unseen_character": error(CONFIG_SYNTAX, _unseen_character),
    "no_final_newline": caution(CONFIG_SYNTAX, _no_final_newline),
}
