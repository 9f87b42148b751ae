"""Rows and the reading of rows: how a table of signs becomes a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from checks.reason import Reason
from checks.verdict.answer import squeeze
from checks.verdict.view import View

Rule = Callable[[View], Reason | None]
"""A question to the evidence: the reason it proves, or None."""


@dataclass(frozen=True, slots=True)
class Row:
    """One sign of one reason: it holds when a code-like field has one of `codes` or the words match
    `text`, and the status is one of `statuses` (empty: any)."""

    reason: Reason
    codes: frozenset[str]
    text: re.Pattern[str] | None
    statuses: frozenset[int]

    def holds(self, view: View) -> bool:
        """Whether this sign is in the answer."""
        answer = view.answer
        if self.statuses and answer.status not in self.statuses:
            return False
        if self.codes and self.codes & answer.codes:
            return True
        return self.text is not None and self.text.search(answer.said) is not None


def row(reason: Reason, text: str = "", codes: str = "", statuses: Iterable[int] = ()) -> Row:
    """Write a row: `text` is a pattern over lower-case words, `codes` blank-separated spellings."""
    return Row(
        reason,
        frozenset(squeeze(code) for code in codes.split()),
        re.compile(text) if text else None,
        frozenset(statuses),
    )


def table(*rows: Row) -> Rule:
    """Make one rule of rows; the first that holds gives the reason."""

    def look(view: View) -> Reason | None:
        return next((one.reason for one in rows if one.holds(view)), None)

    return look


def first(rules: Iterable[Rule], view: View) -> Reason | None:
    """The reason of the first rule that has one."""
    for rule in rules:
        reason = rule(view)
        if reason is not None:
            return reason
    return None


def failing(reason: Reason, pattern: str) -> Rule:
    """A rule over the texts of a failure (message and chain, lower case)."""
    compiled = re.compile(pattern)

    def look(view: View) -> Reason | None:
        return reason if compiled.search(view.failure_text) else None

    return look
