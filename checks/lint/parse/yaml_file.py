"""YAML, from the library's events: they carry lines, and no depth or alias of a hostile file can swell."""

from __future__ import annotations

import re
from typing import Final, Protocol

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from checks.lint.parse.document import Collector, TooMuch
from checks.lint.sheet import Contents, Fault, Scalar

MAX_EVENTS: Final = 40_000


class _Mark(Protocol):
    """A place in a file, as both of the library's parsers give it."""

    @property
    def line(self) -> int: ...


_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# What readers of YAML 1.1 make of an unquoted value: most tools that read these files follow it.
_TYPES: Final = (
    (Scalar.NOTHING, re.compile(r"~|null|Null|NULL|")),
    (Scalar.TRUTH, re.compile(r"yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF")),
    (Scalar.DATE, re.compile(r"\d{4}-\d{2}-\d{2}")),
    (
        Scalar.NUMBER,
        re.compile(
            r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])*|\.inf)"
            r"|[-+]?(?:[0-9][0-9_]*)?\.[0-9_]+(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*\.?(?:[eE][-+]?[0-9]+)?"
        ),
    ),
)


def parse_yaml(text: str) -> Contents:
    """Read all documents of a file into one; what stands before a fault is kept."""
    collector = Collector()
    fault: Fault | None = None
    try:
        for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
            if count >= MAX_EVENTS:
                raise TooMuch(_line(event.start_mark))
            _take(collector, event)
    except yaml.MarkedYAMLError as error:
        facts = {"problem": _said(error.problem or error.context or "")}
        fault = Fault("yaml_syntax", _line(error.problem_mark or error.context_mark), facts=facts)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else 1
        fault = Fault("yaml_syntax", line, facts={"problem": "a character that YAML does not allow"})
    except (TooMuch, RecursionError, ValueError, OverflowError) as error:
        fault = Fault("document_too_deep", getattr(error, "line", 1))
    found = collector.contents()
    return found if fault is None else Contents(found.items, (), (*found.faults, fault), found.maps)


def _take(collector: Collector, event: object) -> None:
    if isinstance(event, ScalarEvent):
        start, end = _line(event.start_mark), _line(event.end_mark)
        quoted = bool(event.style)  # one parser says None of a plain value, the other an empty text
        scalar = Scalar.TEXT if quoted or event.tag else _type_of(event.value)
        collector.scalar(event.value, start, end=end, scalar=scalar, quoted=quoted)
    elif isinstance(event, MappingStartEvent | SequenceStartEvent):
        collector.open(is_map=isinstance(event, MappingStartEvent), line=_line(event.start_mark))
    elif isinstance(event, MappingEndEvent | SequenceEndEvent):
        collector.close()
    elif isinstance(event, AliasEvent):
        collector.alias(_line(event.start_mark))


def _line(mark: _Mark | None) -> int:
    return 1 if mark is None else mark.line + 1


def _type_of(value: str) -> Scalar:
    if len(value) > 64:
        return Scalar.TEXT
    return next((scalar for scalar, pattern in _TYPES if pattern.fullmatch(value)), Scalar.TEXT)


def _said(problem: str) -> str:
    """The library's words, which name tokens and characters of the grammar and quote none of the file."""
    return re.sub(r"[^ -~]", "?", problem)[:120]
