"""Rules on values: signs that a reader expands, cuts or runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from checks.lint.finding import CONFIG_SYNTAX, Hit, Rule, Severity, caution, error
from checks.lint.readers import Cut, Expansion
from checks.lint.rules.codes import VITAL, spoilt
from checks.lint.sheet import Format, Item, Kind, Role, Sheet, Written

_DOLLAR: Final = {
    Expansion.BRACES: re.compile(r"\$\{"),
    Expansion.NAMES: re.compile(r"\$(?:[A-Za-z_{0-9]|\$)"),
    Expansion.SHELL: re.compile(r"\$(?:[A-Za-z_{0-9($@*#?!-]|\$)|`"),
}
_WHOLE: Final = re.compile(r"\$(?:[A-Za-z_]\w*|\{[^{}]*\})")
_OPERATOR: Final = re.compile(r"[&;|<>()]|[ \t]+(?!#)\S")
_SECRET: Final = frozenset((Role.KEY, Role.BASE, Role.PROXY))


def _lines(sheet: Sheet) -> Iterator[tuple[Item, Written]]:
    return ((item, item.written) for item in sheet.items if item.written)


def _dollar(sheet: Sheet) -> Iterator[Hit]:
    """A dollar sign that the reader takes for a variable, within a value that was meant as it stands."""
    dialect = sheet.reading.dialect
    for item, written in _lines(sheet):
        if item.role not in _SECRET or _is_reference(item):
            continue
        pattern = _DOLLAR.get(dialect.expansion if dialect.known else Expansion.NAMES)
        guarded = written.quote == "'" and not dialect.expands_single
        if pattern and not guarded and pattern.search(item.value.replace("\\$", "")):
            facts = {"reader": dialect.name if dialect.known else "compose"}
            severity = Severity.ERROR if dialect.known else Severity.WARNING
            yield Hit(item.line, item.key, facts, spoilt(item.role), severity)


def _compose_dollar(sheet: Sheet) -> Iterator[Hit]:
    """Compose interpolates every value of its file, whatever its quotes."""
    if sheet.kind is not Kind.COMPOSE:
        return
    for item in sheet.items:
        rest = item.value.replace("$$", "")
        if item.role in _SECRET and re.search(r"\$[A-Za-z_{]", rest) and not _is_reference(item):
            yield Hit(item.line, item.key, {"reader": "compose"}, spoilt(item.role))


def _reference_not_expanded(sheet: Sheet) -> Iterator[Hit]:
    dialect = sheet.reading.dialect
    for item, written in _lines(sheet):
        literal = dialect.known and (
            dialect.expansion is Expansion.NONE or (written.quote == "'" and not dialect.expands_single)
        )
        bare_name = dialect.expansion is Expansion.BRACES and not item.value.startswith("${")
        if item.role in VITAL and _is_reference(item) and (literal or (dialect.known and bare_name)):
            yield Hit(item.line, item.key, {"reader": dialect.name}, code=spoilt(item.role))


def _is_reference(item: Item) -> bool:
    return bool(_WHOLE.match(item.value)) and not re.search(r"[^\w${}:/.@,?+-]", item.value)


def _backslash(sheet: Sheet) -> Iterator[Hit]:
    for item, _ in _lines(sheet):
        if "\\" in item.value and item.role in _SECRET:
            yield Hit(item.line, item.key, code=spoilt(item.role))


def _hash_cuts(sheet: Sheet) -> Iterator[Hit]:
    dialect = sheet.reading.dialect
    for item, written in _lines(sheet):
        inside = not written.quote and re.search(r"[^\s]#", written.raw)
        if not inside or item.role not in VITAL:
            continue
        if not dialect.known:
            facts = {"reader": "node"}
            yield Hit(item.line, item.key, facts, spoilt(item.role), Severity.WARNING)
        elif dialect.cut is Cut.ANYWHERE:
            yield Hit(item.line, item.key, {"reader": dialect.name}, spoilt(item.role))


def _operators(sheet: Sheet) -> Iterator[Hit]:
    """An unquoted `&`, `;` or blank: a shell ends the assignment there and runs the rest."""
    if not sheet.reading.dialect.operators or sheet.format is not Format.DOTENV:
        return
    for item, written in _lines(sheet):
        if not written.quote and _OPERATOR.search(item.value):
            yield Hit(item.line, item.key, {"reader": sheet.reading.dialect.name}, spoilt(item.role))


def _written_newline(sheet: Sheet) -> Iterator[Hit]:
    """The two signs `\\n` at the end, or a real line break: what `echo` and secret stores leave behind."""
    for item in sheet.of(Role.KEY, Role.BASE):
        if item.value.endswith(("\\n", "\\r", "\n")) and item.end - item.line <= 2:
            yield Hit(item.line, item.key, code=spoilt(item.role))


def _json_in_value(sheet: Sheet) -> Iterator[Hit]:
    """A value that sets out as JSON and does not end as such."""
    for item in sheet.items:
        text = item.value.strip()
        if not _looks_like_json(text) or item.is_reference:
            continue
        try:
            json.loads(text)
        except json.JSONDecodeError as problem:
            shift = item.value[: item.value.index(text[0])].count("\n")
            line = item.line + shift + problem.lineno - 1
            facts = {"problem": problem.msg[:80], "column": str(problem.colno)}
            yield Hit(min(line, item.end), item.key, facts)
        except (RecursionError, ValueError):
            yield Hit(item.line, item.key, {"problem": "it is nested too deep", "column": "1"})


def _looks_like_json(text: str) -> bool:
    return bool(re.match(r"\{\s*\"|\[\s*[\[{\"]|\{\s*\n", text)) and len(text) > 2


RULES: Final[Mapping[str, Rule]] = {
    "dollar": error(CONFIG_SYNTAX, _dollar),
    "compose_dollar": error(CONFIG_SYNTAX, _compose_dollar),
    "reference_not_expanded": error(CONFIG_SYNTAX, _reference_not_expanded),
    "written_newline": error(CONFIG_SYNTAX, _written_newline),
    "backslash": caution(CONFIG_SYNTAX, _backslash),
    "hash_cuts": error(CONFIG_SYNTAX, _hash_cuts),
    "operators": error(CONFIG_SYNTAX, _operators),
    "json_in_value": error(CONFIG_SYNTAX, _json_in_value),
}
