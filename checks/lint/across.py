"""What only several files together show: a value that another file overrules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Final

from checks.lint.finding import Finding, Severity
from checks.lint.rules.codes import VITAL
from checks.lint.sheet import Format, Item, Sheet
from checks.lint.sheets import is_profile
from checks.reason import Reason

RULE: Final = "shadowed"
"""The name of the rule's sentences."""

MAX_TOGETHER: Final = 8


def shadowed(sheets: Sequence[Sheet]) -> Iterator[Finding]:
    """A shell's exported variable against an environment file whose reader leaves set variables alone.

    Files belong together where they lie in one folder, or where one is a shell's own profile; a long list
    of files is a folder's contents and says nothing on who uses what.
    """
    if len(sheets) > MAX_TOGETHER:
        return
    for sheet in sheets:
        if sheet.format is not Format.DOTENV or sheet.reading.dialect.file_wins:
            continue
        winners = {item.name: (other, item) for other in sheets for item in _exported(other, sheet)}
        for item in sheet.items:
            winner = winners.get(item.name)
            if winner and item.role in VITAL and winner[1].value != item.value and item.value.strip():
                yield _finding(sheet, item, *winner)


def _exported(shell: Sheet, sheet: Sheet) -> Iterator[Item]:
    """Variables that a shell's file hands to the program that reads the sheet."""
    together = is_profile(shell.name) or PurePath(shell.name).parent == PurePath(sheet.name).parent
    if shell.format is Format.DOTENV or not together:
        return iter(())
    return (item for item in shell.items if item.written and item.written.exported)


def _finding(sheet: Sheet, item: Item, winner: Sheet, winning: Item) -> Finding:
    facts = {
        "other": winner.name,
        "line": str(winning.line),
        "length": str(len(item.value)),
        "winning": str(len(winning.value)),
    }
    return Finding(sheet.name, Reason.ENV_SHADOWED.value, Severity.WARNING, item.line, item.key, RULE, facts)
