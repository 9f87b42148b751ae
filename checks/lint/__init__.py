"""The lint: says of a configuration file, before anything is called, what its reader will make of it.

It knows `.env`, shell, TOML, YAML and JSON, among them compose files, litellm lists and the settings of
Claude Code and codex; and it knows who reads them, for the same line is right for one reader and wrong for
another. What the file proves is an error; what a probe must decide is a warning that names the probe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from checks.lint.across import shadowed
from checks.lint.finding import CONFIG_SYNTAX, Finding, Hit, Rule, Severity
from checks.lint.messages import say
from checks.lint.readers import names
from checks.lint.reading import UnknownReader, stated
from checks.lint.rules import RULES
from checks.lint.sheet import Sheet
from checks.lint.sheets import read_sheet
from checks.lint.shown import shown

__all__ = [
    "CONFIG_SYNTAX",
    "MAX_FILE_BYTES",
    "RULES",
    "Finding",
    "Severity",
    "UnknownReader",
    "lint",
    "lint_files",
    "readers",
    "say",
]

MAX_FILE_BYTES: Final = 1_048_576
MAX_FINDINGS: Final = 500
MAX_OF_ONE_RULE: Final = 50

# The beginnings of keys that vendors publish come from a table of ours and look like keys.
_OUR_WORDS: Final = frozenset(("start",))

# After these nothing else of the file can be trusted.
_FATAL: Final = frozenset(("utf16",))


def lint(text: bytes, *, name: str, reader: str | None = None) -> tuple[Finding, ...]:
    """Return the findings on one file, in the order of its lines; nothing where it is clean.

    `name` is the file's name, from which format and reader are guessed; the file is not opened. `reader` is
    a name of `readers()` or a phrase that holds some. Raises `UnknownReader` for no other reason than that;
    whatever the bytes are, nothing else is raised. No finding holds a key or a part of one.
    """
    return lint_files([(name, text)], reader=reader)


def lint_files(files: Sequence[tuple[str, bytes]], *, reader: str | None = None) -> tuple[Finding, ...]:
    """Return the findings on several files that are used together, each as `lint` says, and what only the
    files together show. Raises `UnknownReader`."""
    told = stated(reader) if reader else None
    found: list[Finding] = []
    sheets: list[Sheet] = []
    for name, data in files:
        if len(data) > MAX_FILE_BYTES:
            facts = {"limit": str(MAX_FILE_BYTES)}
            found.append(Finding(name, CONFIG_SYNTAX, Severity.ERROR, 1, "", "file_too_large", facts))
            continue
        sheet = read_sheet(data, name, told)
        sheets.append(sheet)
        found += _judged(sheet)
    if len(sheets) > 1:
        found += shadowed(sheets)
    order = {name: place for place, (name, _) in enumerate(files)}
    return tuple(sorted(found, key=lambda finding: (order[finding.file], finding.line or 0)))


def readers() -> tuple[str, ...]:
    """Return the names of readers, sorted."""
    return names()


def _judged(sheet: Sheet) -> list[Finding]:
    """Ask all rules; of several that give one line the same code the first has the word."""
    found: dict[tuple[int | None, str, str], Finding] = {}
    for name, rule in RULES.items():
        for finding in _asked(sheet, name, rule):
            found.setdefault((finding.line, finding.code, finding.key), finding)
        if name in _FATAL and found:
            break
    return list(found.values())[:MAX_FINDINGS]


def _asked(sheet: Sheet, name: str, rule: Rule) -> Iterator[Finding]:
    for count, hit in enumerate(rule.find(sheet)):
        if count >= MAX_OF_ONE_RULE:
            return
        yield _finding(sheet, name, rule, hit)


def _finding(sheet: Sheet, name: str, rule: Rule, hit: Hit) -> Finding:
    severity = (hit.severity or rule.severity) if rule.provable else Severity.WARNING
    facts = {fact: value if fact in _OUR_WORDS else shown(value) for fact, value in hit.facts.items()}
    return Finding(sheet.name, str(hit.code or rule.code), severity, hit.line, shown(hit.key), name, facts)
