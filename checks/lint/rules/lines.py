"""Rules on lines: what the stated reader makes of quotes, export, blanks, comments and doubles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from checks.lint.finding import CONFIG_SYNTAX, Hit, Rule, Severity, caution, error
from checks.lint.readers import Cut, Dialect, Take, Twice
from checks.lint.rules.codes import VITAL, lost, spoilt
from checks.lint.sheet import Format, Item, Role, Sheet, Written
from checks.reason import Reason

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OTHER_SHELL: Final = re.compile(
    r"\s*(?:set\s+-\S*x|setx?\s+[\"']?[A-Za-z_]\w*\b|\$env:[A-Za-z_])", re.IGNORECASE
)
_FULL_WIDTH: Final = re.compile(r"[\uff1d\uff1a]")
MAX_STRAYS: Final = 3
_ANY_READER: Final = "docker"


def _written(sheet: Sheet) -> Iterator[tuple[Item, Written]]:
    return ((item, item.written) for item in sheet.items if item.written)


def _dialect(sheet: Sheet) -> Dialect | None:
    """The reader of the lines where somebody said who it is; None for the stand-in."""
    return sheet.reading.dialect if sheet.format.by_lines and sheet.reading.dialect.known else None


def _facts(sheet: Sheet, **more: str) -> dict[str, str]:
    dialect = sheet.reading.dialect
    return {"reader": dialect.name if dialect.known else _ANY_READER, **more}


def _quotes_kept(sheet: Sheet) -> Iterator[Hit]:
    dialect = _dialect(sheet)
    if not dialect:
        return
    for item, written in _written(sheet):
        backtick = written.quote == "`" and dialect.quotes  # has a rule of its own
        if written.quote not in dialect.quotes and not backtick and item.end == item.line:
            yield Hit(item.line, item.key, _facts(sheet), code=spoilt(item.role))


def _many_lines(sheet: Sheet) -> Iterator[Hit]:
    dialect = sheet.reading.dialect
    for item, written in _written(sheet):
        if item.end > item.line and (not dialect.many_lines or written.quote not in dialect.quotes):
            yield Hit(item.line, item.key, _facts(sheet, lines=str(item.end - item.line + 1)))


def _backtick(sheet: Sheet) -> Iterator[Hit]:
    dialect = sheet.reading.dialect
    for item, written in _written(sheet):
        if written.quote == "`" and item.end == item.line and "`" not in dialect.quotes and dialect.quotes:
            yield Hit(item.line, item.key, _facts(sheet), code=spoilt(item.role))


def _open_quote(sheet: Sheet) -> Iterator[Hit]:
    if not sheet.reading.dialect.quotes:
        return  # kept to the letter, which another rule says
    for item, written in _written(sheet):
        if not written.closed and written.quote:
            yield Hit(item.line, item.key, code=spoilt(item.role))


def _stray_quote(sheet: Sheet) -> Iterator[Hit]:
    """A quote at the end that nothing opened, or text behind the closing one."""
    for item, written in _written(sheet):
        bare = written.raw.strip()
        unopened = not written.quote and bare[-1:] in ("'", '"') and bare.count(bare[-1]) == 1
        behind = written.quote and written.tail and not written.tail.startswith("#")
        if sheet.format is Format.DOTENV and (unopened or behind) and item.role is not Role.OTHER:
            yield Hit(item.line, item.key, code=spoilt(item.role))


def _export_not_read(sheet: Sheet) -> Iterator[Hit]:
    dialect = _dialect(sheet)
    if not dialect or dialect.export is Take.READ:
        return
    for item, written in _written(sheet):
        if written.exported:
            yield Hit(item.line, item.key, _facts(sheet), code=lost(item.role))
            if dialect.export is Take.REFUSED:
                return  # the reader stops here


def _not_exported(sheet: Sheet) -> Iterator[Hit]:
    """A profile's bare assignment: the shell knows it, the programs it starts do not."""
    if sheet.format is Format.DOTENV and not sheet.reading.dialect.needs_export:
        return
    if re.search(r"^\s*set\s+(?:-a\b|-o\s+allexport)", sheet.text, re.MULTILINE):
        return
    used = set(re.findall(r"^\s*(?:export|declare -x)\s+([A-Za-z_]\w*)", sheet.text, re.MULTILINE))
    used |= set(re.findall(r"\$\{?([A-Za-z_]\w*)", sheet.text))
    for item, written in _written(sheet):
        if item.role in VITAL and not written.exported and item.name not in used:
            yield Hit(item.line, item.key, code=lost(item.role))


def _blank_at_sign(sheet: Sheet) -> Iterator[Hit]:
    dialect = sheet.reading.dialect
    if dialect.known and dialect.blanks is Take.READ:
        return
    for item, written in _written(sheet):
        if not (written.blank_before or written.blank_after) or written.sign == ":":
            continue
        if dialect.known:
            harmless = written.blank_after and not written.blank_before and not written.raw.strip()
            if not harmless:
                yield Hit(item.line, item.key, _facts(sheet), code=lost(item.role))
        else:
            facts = {"reader": "docker"}
            yield Hit(item.line, item.key, facts, severity=Severity.WARNING)


def _edges_kept(sheet: Sheet) -> Iterator[Hit]:
    dialect = _dialect(sheet)
    if not dialect or not dialect.keeps_edges:
        return
    for item, written in _written(sheet):
        if written.raw.rstrip("\r") != written.raw.rstrip() and not written.quote:
            yield Hit(item.line, item.key, _facts(sheet), code=spoilt(item.role))


def _comment_kept(sheet: Sheet) -> Iterator[Hit]:
    dialect = _dialect(sheet)
    if not dialect or dialect.cut is not Cut.NEVER:
        return
    for item, written in _written(sheet):
        bare = not written.quote and re.search(r"(?:^|[ \t])#", written.raw)
        if bare or (written.quote and written.tail.startswith("#")):
            yield Hit(item.line, item.key, _facts(sheet), code=spoilt(item.role))


def _colon(sheet: Sheet) -> Iterator[Hit]:
    for item, written in _written(sheet):
        if written.sign == ":" and not sheet.reading.dialect.colon:
            yield Hit(item.line, item.key, _facts(sheet), code=lost(item.role))


def _twice(sheet: Sheet) -> Iterator[Hit]:
    first: dict[str, Item] = {}
    for item in sheet.items:
        before = first.setdefault(item.name, item) if item.written else item
        if before is item:
            continue
        order = sheet.reading.dialect.twice
        same = before.value == item.value
        if order is Twice.REFUSED:
            yield Hit(
                item.line, item.key, _facts(sheet, first=str(before.line)), CONFIG_SYNTAX, Severity.ERROR
            )
        elif not same and sheet.format is Format.DOTENV:
            wins = before.line if order is Twice.FIRST else item.line
            yield Hit(item.line, item.key, _facts(sheet, first=str(before.line), wins=str(wins)))


def _odd_name(sheet: Sheet) -> Iterator[Hit]:
    dialect = sheet.reading.dialect
    for item, _ in _written(sheet):
        if _NAME.fullmatch(item.name) or any(ord(sign) > 0x7F for sign in item.name if sign == "\ufeff"):
            continue
        harmful = dialect.known and dialect.odd_names is not Take.READ
        yield Hit(
            item.line,
            item.key[:80],
            {"reader": dialect.name if harmful else "shell"},
            severity=Severity.ERROR if harmful else Severity.WARNING,
        )


def _other_shell(sheet: Sheet) -> Iterator[Hit]:
    if sheet.format is Format.FISH:
        return
    for stray in sheet.contents.strays:
        if _OTHER_SHELL.match(stray.text):
            yield Hit(stray.line, facts=_facts(sheet))


def _stray_line(sheet: Sheet) -> Iterator[Hit]:
    """The first few: prose has many lines, and one word on each would bury the rest."""
    skipped = sheet.reading.dialect.stray is Take.LOST
    others = [
        stray
        for stray in sheet.contents.strays
        if not _OTHER_SHELL.match(stray.text) and not _FULL_WIDTH.search(stray.text)
    ]
    for stray in others[:MAX_STRAYS]:
        yield Hit(stray.line, facts=_facts(sheet), severity=Severity.WARNING if skipped else None)


def _comment_runs_on(sheet: Sheet) -> Iterator[Hit]:
    """A comment that ends in a backslash swallows the next line for some readers."""
    dialect = _dialect(sheet)
    if not dialect or dialect.name not in ("systemd", "make"):
        return
    for number, text in enumerate(sheet.lines, 1):
        if text.lstrip().startswith("#") and text.rstrip().endswith("\\"):
            yield Hit(number, facts=_facts(sheet))


def _line_too_long(sheet: Sheet) -> Iterator[Hit]:
    return (Hit(f.line, f.key) for f in sheet.contents.faults if f.kind == "line_too_long")


RULES: Final[Mapping[str, Rule]] = {
    "many_lines": error(CONFIG_SYNTAX, _many_lines),
    "quotes_kept": error(CONFIG_SYNTAX, _quotes_kept),
    "backtick": error(CONFIG_SYNTAX, _backtick),
    "open_quote": error(CONFIG_SYNTAX, _open_quote),
    "stray_quote": error(CONFIG_SYNTAX, _stray_quote),
    "export_not_read": error(CONFIG_SYNTAX, _export_not_read),
    "not_exported": caution(CONFIG_SYNTAX, _not_exported),
    "blank_at_sign": error(CONFIG_SYNTAX, _blank_at_sign),
    "edges_kept": error(CONFIG_SYNTAX, _edges_kept),
    "comment_kept": error(CONFIG_SYNTAX, _comment_kept),
    "colon": error(CONFIG_SYNTAX, _colon),
    "name_twice": caution(Reason.ENV_SHADOWED, _twice),
    "odd_name": error(CONFIG_SYNTAX, _odd_name),
    "other_shell": error(CONFIG_SYNTAX, _other_shell),
    "stray_line": error(CONFIG_SYNTAX, _stray_line),
    "comment_runs_on": error(CONFIG_SYNTAX, _comment_runs_on),
    "line_too_long": error(CONFIG_SYNTAX, _line_too_long),
}
