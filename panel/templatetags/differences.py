"""What one version of a profile changed against the one before, as lines with a sign."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Line(NamedTuple):
    """One line of a difference. `sign` is "+", "-" or empty; `name` and `value` are shown as they are."""

    sign: str
    name: str
    value: str


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Line]:
    """Return the lines that differ, removed before added, in the order of the newer version."""
    old, new = _flat(before), _flat(after)
    lines = []
    for name in [*new, *(name for name in old if name not in new)]:
        if old.get(name) == new.get(name):
            continue
        lines += [Line("-", name, old[name])] if name in old else []
        lines += [Line("+", name, new[name])] if name in new else []
    return lines


def _flat(snapshot: Mapping[str, Any]) -> dict[str, str]:
    """Turn a snapshot into names and values: `lanes.agent.model` = `"qwen3-8b"`."""
    flat: dict[str, str] = {}
    for name, value in snapshot.items():
        if name == "lanes":
            for lane in value:
                flat |= {
                    f"lanes.{lane.get('kind')}.{key}": _said(one)
                    for key, one in lane.items()
                    if key != "kind"
                }
        else:
            flat[name] = _said(value)
    return flat


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
