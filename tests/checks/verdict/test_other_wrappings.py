"""The same answer in another wrapping keeps its reason: what relays, SDKs and encoders make of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import pytest

from tests.checks.verdict.scoring import Case, misses, recorded, variants


def _refusals(*, plain: bool = True) -> list[Case]:
    """Cases whose answer is an error in a JSON object."""
    cases = [case for case in recorded() + variants() if (case.get("response") or {}).get("status", 0) >= 400]
    return [copy.deepcopy(case) for case in cases if case["response"]["body"].startswith("{") is plain]


def _without_hints(case: Case) -> Case:
    return {**case, "server": "", "client": ""}


def _as_exception(case: Case) -> Case:
    status, body = case["response"]["status"], json.loads(case["response"]["body"])
    text = f"openai.APIStatusError: Error code: {status} - {body!r}"
    return {**case, "response": None, "exception": {"kind": "client", "message": text}}


def _as_string(case: Case) -> Case:
    case["response"]["body"] = json.dumps(case["response"]["body"], ensure_ascii=False)
    return case


def _escaped(case: Case) -> Case:
    case["response"]["body"] = json.dumps(json.loads(case["response"]["body"]), indent=4)
    return case


def _behind_litellm(case: Case) -> Case:
    said = f"litellm.APIError: OpenAIException - {case['response']['body']}"
    inner = {"message": said, "type": None, "param": None, "code": str(case["response"]["status"])}
    case["response"]["body"] = json.dumps({"error": inner}, ensure_ascii=False)
    return case


@pytest.mark.parametrize("wrap", [_as_exception, _as_string, _escaped, _behind_litellm])
def test_a_wrapped_refusal_keeps_its_reason(wrap: Callable[[Case], Case]) -> None:
    cases = [wrap(case) for case in _refusals()]
    wrong = misses(cases)
    assert len(wrong) <= len(cases) * 0.02, wrong


def test_an_answer_is_known_without_hints_on_client_and_server() -> None:
    cases = [_without_hints(case) for case in recorded() + variants()]
    wrong = misses(cases)
    assert len(wrong) <= len(cases) * 0.01, wrong


def test_an_answer_is_known_without_its_content_type() -> None:
    cases = _refusals()
    for case in cases:
        case["response"]["headers"].pop("content-type", None)
    wrong = misses(cases)
    assert len(wrong) <= len(cases) * 0.01, wrong
