"""JSON, read token by token, so that each setting has its line and a fault ends nothing."""

from __future__ import annotations

import json
import re
from typing import Final

from checks.lint.parse.document import Collector, TooMuch
from checks.lint.sheet import Contents, Fault, Scalar

# A text or comment that nobody closes ends with its line or the file: no place is looked at twice.
_TOKEN: Final = re.compile(
    r'"(?:[^"\\\n]|\\[^\n])*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)|[{}\[\],:]|[^\s{}\[\],:"/]+|\n|[^\S\n]+|.',
    re.DOTALL,
)
_KINDS: Final = {"true": Scalar.TRUTH, "false": Scalar.TRUTH, "null": Scalar.NOTHING}


def parse_json(text: str, *, with_comments: bool = False) -> Contents:
    """Read a JSON document. `with_comments` forgives comments, as editors' settings may hold them."""
    fault = _fault(_uncommented(text) if with_comments else text)
    collector = Collector()
    line = 1
    try:
        for match in _TOKEN.finditer(text):
            _take(collector, match[0], line)
            line += match[0].count("\n")
    except TooMuch as error:
        fault = fault or Fault("document_too_deep", error.line)
    found = collector.contents()
    return Contents(found.items, (), (*found.faults, *([fault] if fault else [])), found.maps)


def _take(collector: Collector, piece: str, line: int) -> None:
    if piece in "{[":
        collector.open(is_map=piece == "{", line=line)
    elif piece in "}]":
        collector.close()
    elif piece.startswith('"'):
        collector.scalar(_text(piece), line, quoted=True)
    elif piece not in ",:" and piece.strip() and not piece.startswith(("//", "/*")):
        collector.scalar(piece, line, scalar=_KINDS.get(piece, Scalar.NUMBER), quoted=False)


def _text(piece: str) -> str:
    try:
        return str(json.loads(piece, strict=False))
    except ValueError:
        return piece.strip('"')


def _fault(text: str) -> Fault | None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return Fault(
            "json_syntax", error.lineno, facts={"problem": error.msg[:80], "column": str(error.colno)}
        )
    except (RecursionError, ValueError):
        return Fault("document_too_deep", 1)
    return None


def _uncommented(text: str) -> str:
    """Blank out comments, line breaks kept."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0]) if match[0].startswith(("//", "/*")) else match[0]

    return _TOKEN.sub(blank, text)
