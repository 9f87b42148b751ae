"""`python -m checks lint`: files in, findings out, one a line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from checks.lint import (
    MAX_FILE_BYTES,
    Finding,
    Severity,
    UnknownReader,
    lint_files,
    say,
)

CLEAN: Final = 0
FAULTY: Final = 1
UNUSABLE: Final = 2


def run(options: argparse.Namespace) -> int:
    """Print the findings; return 0 where no error is among them, 1 where one is, 2 for unusable input."""
    try:
        files = [(name, _read(name)) for name in dict.fromkeys(options.files)]
        found = lint_files(files, reader=options.reader)
    except OSError as exc:
        return _unusable(f"{exc.filename}: It cannot be read ({exc.strerror}).")
    except ValueError as exc:
        about = "--reader" if isinstance(exc, UnknownReader) else "FILE"
        return _unusable(f"{about}: {exc}")
    for finding in found:
        print(_as_json(finding, options.lang) if options.json else _as_text(finding, options.lang))
    if not options.json:
        print(_summary(len(files), found))
    return FAULTY if any(finding.severity is Severity.ERROR for finding in found) else CLEAN


def _read(name: str) -> bytes:
    """Read one byte more than the lint takes, so that it can tell a file that is too large."""
    if name == "-":
        return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    with Path(name).open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _as_json(finding: Finding, lang: str) -> str:
    return json.dumps(
        {
            "file": finding.file,
            "code": finding.code,
            "severity": finding.severity.value,
            "line": finding.line,
            "key": finding.key,
            "message": say(finding, lang),
            "rule": finding.rule,
        }
    )


def _as_text(finding: Finding, lang: str) -> str:
    place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
    text = f"{place}: {finding.severity.value} [{finding.code}] {say(finding, lang)}"
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def _summary(count: int, found: tuple[Finding, ...]) -> str:
    errors = sum(finding.severity is Severity.ERROR for finding in found)
    warnings = len(found) - errors
    files = "1 file" if count == 1 else f"{count} files"
    if not found:
        return f"{files}: nothing to mend."
    return f"{files}: {errors} {_many('error', errors)}, {warnings} {_many('warning', warnings)}."


def _many(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def _unusable(text: str) -> int:
    print(text, file=sys.stderr)
    return UNUSABLE
