"""What only several files together show: a value that another file overrules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final

from checks.lint.finding import Finding, Severity
from checks.lint.rules.codes import VITAL
from checks.lint.sheet import Format, Item, Kind, Sheet
from checks.lint.sheets import is_profile
from checks.lint.shown import shown
from checks.reason import Reason

RULE: Final = "shadowed"
"""The name of the rule's sentences."""

MAX_TOGETHER: Final = 8

Winners = Mapping[str, tuple[Sheet, Item]]


def shadowed(sheets: Sequence[Sheet]) -> Iterator[Finding]:
    """A setting with another value in a file of higher rank.

    A shell's exported variable wins over an environment file whose reader leaves set variables alone; the
    environment of a compose service wins over its env_file; Claude Code's settings win over the shell.
    Files belong together where they lie in one folder, or where one is a shell's own profile; a long list
    of files is a folder's contents and says nothing on who uses what.
    """
    if len(sheets) > MAX_TOGETHER:
        return
    for sheet in sheets:
        winners = _winners(sheet, sheets)
        for item in _handed_on(sheet):
            winner = winners.get(item.name)
            if winner and item.role in VITAL and item.value.strip() and winner[1].value != item.value:
                yield _finding(sheet, item, *winner)


def _winners(sheet: Sheet, sheets: Sequence[Sheet]) -> Winners:
    """What other files say with a higher rank, by the name of the variable."""
    above = _ABOVE.get(sheet.format)
    if above is None or (
        sheet.format is Format.DOTENV and sheet.reading.dialect.file_wins and not _compose(sheets)
    ):
        return {}
    return {
        item.name: (other, item)
        for other in sheets
        if other is not sheet and above(sheet, other) and _together(other, sheet)
        for item in _handed_on(other)
        if not item.is_reference
    }


def _compose(sheets: Sequence[Sheet]) -> bool:
    return any(sheet.kind is Kind.COMPOSE for sheet in sheets)


def _above_dotenv(sheet: Sheet, other: Sheet) -> bool:
    from_shell = other.format in (Format.SHELL, Format.FISH) and not sheet.reading.dialect.file_wins
    return from_shell or other.kind is Kind.COMPOSE


def _above_shell(sheet: Sheet, other: Sheet) -> bool:
    return other.kind is Kind.CLAUDE


_ABOVE: Final[Mapping[Format, Callable[[Sheet, Sheet], bool]]] = {
    Format.DOTENV: _above_dotenv,
    Format.SHELL: _above_shell,
    Format.FISH: _above_shell,
}


def _together(first: Sheet, second: Sheet) -> bool:
    profile = is_profile(first.name) or is_profile(second.name)
    return profile or PurePath(first.name).parent == PurePath(second.name).parent


def _handed_on(sheet: Sheet) -> Iterator[Item]:
    """Variables that a file hands to the programs that it starts or configures."""
    for item in sheet.items:
        exported = item.written is not None and (sheet.format is Format.DOTENV or item.written.exported)
        if exported or "environment" in item.path or item.path[:1] == ("env",):
            yield item


def _finding(sheet: Sheet, item: Item, winner: Sheet, winning: Item) -> Finding:
    facts = {
        "other": winner.name,
        "line": str(winning.line),
        "length": str(len(item.value)),
        "winning": str(len(winning.value)),
    }
    code, key = Reason.ENV_SHADOWED.value, shown(item.key)
    return Finding(sheet.name, code, Severity.WARNING, item.line, key, RULE, facts)
