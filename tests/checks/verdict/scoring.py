"""What the tests of the verdict share: recorded cases, variants, and how a verdict is scored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from checks.reason import Reason
from checks.verdict.cases import classify_line

HERE = Path(__file__).resolve().parent
Case = dict[str, Any]


def recorded(confidence: str = "") -> list[Case]:
    """The recorded cases, or those of one confidence."""
    return [
        case for case in _read(HERE.parent / "data" / "cases.jsonl") if confidence in ("", case["confidence"])
    ]


def variants() -> list[Case]:
    """Our own cases: other wording, other versions, the other language."""
    return _read(HERE / "variants.jsonl")


def accepted(case: Case) -> set[str]:
    """The codes that count as right for a case."""
    return {case["expect"]["code"], *case["expect"].get("also_accept", ())}


def misses(cases: Iterable[Case], right: Callable[[Case], set[str]] = accepted) -> list[str]:
    """The cases whose code is wrong, each with what came instead."""
    judged = ((case, classify_line(json.dumps(case, ensure_ascii=False))) for case in cases)
    return [f"{case['id']}: {got['code']}" for case, got in judged if got["code"] not in right(case)]


def family_misses(cases: Iterable[Case]) -> list[str]:
    """The cases whose family is wrong."""
    return misses(cases, lambda case: {reason.value for reason in Reason if _kin(reason, case)})


def _kin(reason: Reason, case: Case) -> bool:
    families = {case["expect"]["family"]} | {Reason(code).family for code in accepted(case)}
    return reason.family in families


def _read(path: Path) -> list[Case]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
