"""What only several files together show: a value that another file overrules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.lint.finding import Finding, Severity
from checks.lint.rules.codes import VITAL
from checks.lint.sheet import Format, Item, Sheet
from checks.reason import Reason

RULE = "shadowed"
"""The name of the rule's sentences."""


def shadowed(sheets: Sequence[Sheet]) -> Iterator[Finding]:
    """A shell's exported variable against an environment file whose reader leaves set variables alone, or
    one environment file against another."""
    exported = {
        item.name: (sheet, item)
        for sheet in sheets
        if sheet.format is not Format.DOTENV
        for item in _out(sheet)
    }
    for sheet in sheets:
        if sheet.format is not Format.DOTENV or sheet.reading.dialect.file_wins:
            continue
        for item in sheet.items:
            winner = exported.get(item.name)
            if winner and item.role in VITAL and winner[1].value != item.value and item.value.strip():
                yield _finding(sheet, item, *winner)
    yield from _two_files([sheet for sheet in sheets if sheet.format is Format.DOTENV])


def _out(sheet: Sheet) -> Iterator[Item]:
    """Variables that a shell's file hands to the programs it starts."""
    return (item for item in sheet.items if item.written and item.written.exported)


def _two_files(sheets: Sequence[Sheet]) -> Iterator[Finding]:
    first: dict[str, tuple[Sheet, Item]] = {}
    for sheet in sheets:
        for item in sheet.items:
            before, other = first.setdefault(item.name, (sheet, item))
            differs = before is not sheet and other.value != item.value
            if differs and item.role in VITAL and item.value.strip() and other.value.strip():
                yield _finding(sheet, item, before, other)


def _finding(sheet: Sheet, item: Item, winner: Sheet, winning: Item) -> Finding:
    facts = {
        "other": winner.name,
        "line": str(winning.line),
        "length": str(len(item.value)),
        "winning": str(len(winning.value)),
    }
    return Finding(sheet.name, Reason.ENV_SHADOWED.value, Severity.WARNING, item.line, item.key, RULE, facts)
