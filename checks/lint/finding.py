"""What a lint says: findings, and the rules they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from checks.lint.sheet import Sheet

CONFIG_SYNTAX: Final = "config_syntax"
"""The one code that no endpoint can produce: a file that its reader cannot read as it was meant."""


class Severity(StrEnum):
    """`ERROR` is proven by the file alone; `WARNING` needs a probe, or a reader that may be another."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one file.

    `code` is a reason of the taxonomy or `config_syntax`; `line` counts from 1, None where the fault is
    what does not stand there; `key` is the setting as a dotted path, empty for the file itself. `rule`
    names the sentences (`checks.lint.messages.say`), `facts` are the values in them and never hold a key.
    """

    file: str
    code: str
    severity: Severity
    line: int | None
    key: str
    rule: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a rule strikes. `code` and `severity` are given where they differ from the rule's own."""

    line: int | None
    key: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A question to a sheet. Where `provable` is false the file alone cannot decide: such a rule only
    warns, and its sentences name the probe that decides."""

    code: str
    severity: Severity
    find: Callable[[Sheet], Iterable[Hit]]
    provable: bool = True


def error(code: str, find: Callable[[Sheet], Iterable[Hit]]) -> Rule:
    """Make a rule whose finding the file alone proves."""
    return Rule(code, Severity.ERROR, find)


def caution(code: str, find: Callable[[Sheet], Iterable[Hit]]) -> Rule:
    """Make a rule on what is in the file for certain, and harms some readers only."""
    return Rule(code, Severity.WARNING, find)


def suspicion(code: str, find: Callable[[Sheet], Iterable[Hit]]) -> Rule:
    """Make a rule that a probe must confirm."""
    return Rule(code, Severity.WARNING, find, provable=False)
