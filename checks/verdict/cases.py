"""Recorded reports: a line of the case form becomes evidence, a verdict becomes a line."""

from __future__ import annotations

import json
from collections.abc import Mapping

from checks.outcome import Evidence, Failure, FailureKind
from checks.verdict.classify import classify

LINE_CAP = 4 * 1024 * 1024
"""Characters of one line that are read."""


def evidence_from_case(case: Mapping[str, object]) -> Evidence:
    """Read a recorded report. What it expects is never looked at; fields of odd types count as absent."""
    request = _mapping(case.get("request"))
    response = case.get("response")
    answer = _mapping(response)
    return Evidence(
        method=_text(request.get("method")) or "POST",
        url=_text(request.get("url_form") or request.get("url")),
        model=_text(request.get("model")),
        params=_mapping(request.get("params")),
        lane=_text(case.get("lane")),
        client=_text(case.get("client")),
        server=_text(case.get("server")),
        status=_status(answer.get("status")),
        headers={str(k).lower(): _text(v) for k, v in _mapping(answer.get("headers")).items()},
        body=_body(answer.get("body")),
        failure=_failure(case.get("exception")),
        context=_mapping(case.get("context")),
    )


def classify_line(text: str) -> dict[str, object]:
    """Judge one line: `{"id", "code", "family", "layer", "candidates"}`.

    Raises ValueError with a plain sentence when the line is no JSON object.
    """
    try:
        case = json.loads(text[:LINE_CAP])
    except RecursionError:
        raise ValueError("The line is nested too deeply to read.") from None
    except ValueError as error:
        raise ValueError(f"The line is not JSON: {error}.") from None
    if not isinstance(case, dict):
        raise ValueError(f"The line holds {type(case).__name__}, not a JSON object.")
    verdict = classify(evidence_from_case(case))
    return {
        "id": case.get("id"),
        "code": verdict.reason.value,
        "family": verdict.reason.family,
        "layer": verdict.reason.layer,
        "candidates": [reason.value for reason in verdict.candidates],
    }


def _mapping(value: object) -> dict[str, object]:
    return {str(k): v for k, v in value.items()} if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)[:4000]


def _body(value: object) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return _text(value)


def _status(value: object) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float | str):
        try:
            number = int(value)
        except (ValueError, OverflowError):
            return None
        return number if 100 <= number <= 999 else None
    return None


def _failure(value: object) -> Failure | None:
    if isinstance(value, str) and value:
        return Failure(FailureKind.CLIENT, value)
    found = _mapping(value)
    if not found:
        return None
    kind = _text(found.get("kind")).lower()
    known = next((item for item in FailureKind if item.value == kind), FailureKind.CLIENT)
    number = found.get("errno")
    errno = number if isinstance(number, int) and not isinstance(number, bool) else None
    return Failure(known, _text(found.get("message")), errno=errno)
