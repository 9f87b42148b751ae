"""Frozen facts out of JSON that nobody may trust: capped, typed, masked; a wrong type is left out."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

from checks.redact import Redactor

LONGEST_TEXT: Final = 500  # characters of one string
LONGEST_LIST: Final = 512
LARGEST_NUMBER: Final = 1 << 60  # bytes, seconds; larger ones are lies

_MASK: Final = Redactor(())
_Record = TypeVar("_Record")


def read(kind: type[_Record], value: object) -> _Record:
    """Return a `kind`, a dataclass whose every column has a default, filled from a JSON object.

    Text is capped, freed of control characters and of what has the shape of a key. A column that is
    absent or has another type than the one declared keeps its default; unknown names are dropped.
    """
    found = value if isinstance(value, Mapping) else {}
    given = {}
    shape: Any = kind
    for name, hint in _columns(shape):
        if name in found:
            taken, part = _part(hint, found[name])
            if taken:
                given[name] = part
    return kind(**given)


@cache
def _columns(kind: Any) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((column.name, hints[column.name]) for column in fields(kind))


def _part(hint: Any, value: object) -> tuple[bool, Any]:
    """Return whether the value fits, and what is kept of it."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is types.UnionType:
        return (True, None) if value is None else _part(inside[0], value)
    if origin is tuple:
        return _sequence(inside[0], value)
    if origin is not None and issubclass(origin, Mapping):
        return _texts(value)
    if is_dataclass(hint) and isinstance(hint, type):
        return isinstance(value, Mapping), read(hint, value)
    return _scalar(hint, value)


def _sequence(hint: Any, value: object) -> tuple[bool, Any]:
    if not isinstance(value, list | tuple):
        return False, ()
    parts = (_part(hint, part) for part in value[:LONGEST_LIST])
    return True, tuple(part for taken, part in parts if taken)


def _texts(value: object) -> tuple[bool, Any]:
    if not isinstance(value, Mapping):
        return False, {}
    pairs = [(_text(name), text) for name, text in list(value.items())[:LONGEST_LIST]]
    return True, {name: _text(text) for name, text in pairs if isinstance(text, str)}


def _scalar(hint: Any, value: object) -> tuple[bool, Any]:
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        known = {member.value: member for member in hint}
        return isinstance(value, str) and value in known, known.get(str(value))
    if hint is str:
        return isinstance(value, str), _text(value)
    if hint is bool:
        return isinstance(value, bool), value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False, None
    if abs(value) > LARGEST_NUMBER or not math.isfinite(value):
        return False, None
    return True, hint(value)


def _text(value: object) -> str:
    return _MASK.text(str(value)[:LONGEST_TEXT]) if isinstance(value, str) else ""
