"""A verdict is total: no bytes, headers, exceptions or facts make it raise or hang."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.outcome import Evidence, Failure, FailureKind, Phase
from checks.reason import Reason
from checks.verdict import classify
from checks.verdict.cases import classify_line, evidence_from_case
from checks.verdict.pasted import causes_of

TEXT = st.text(max_size=400)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    ["error", "message", "code", "choices", "detail", "usage", "delta", "type", "param", "loc"]
)
SHAPED = st.recursive(
    JSON,
    lambda inner: st.dictionaries(FIELDS, inner | st.lists(inner, max_size=3), max_size=5),
    max_leaves=10,
)
FAILURES = st.builds(
    Failure,
    kind=st.sampled_from(FailureKind),
    message=TEXT,
    phase=st.none() | st.sampled_from(Phase),
    errno=st.none() | st.integers(-20, 20000),
    chain=st.lists(st.tuples(TEXT, TEXT), max_size=5).map(tuple),
)
EVIDENCE = st.builds(
    Evidence,
    url=TEXT,
    model=TEXT,
    params=st.dictionaries(TEXT, JSON, max_size=3),
    status=st.none() | st.integers(100, 999),
    headers=st.dictionaries(TEXT, TEXT, max_size=4),
    body=TEXT
    | st.binary(max_size=400).map(lambda raw: raw.decode("utf-8", "replace"))
    | SHAPED.map(json.dumps),
    failure=st.none() | FAILURES,
    peer=TEXT,
    context=st.dictionaries(st.sampled_from(["env", "key", "models", "siblings", "elapsed_s"]), JSON),
)


@settings(max_examples=150, deadline=None)
@given(EVIDENCE)
def test_any_evidence_gets_a_verdict(evidence: Evidence) -> None:
    verdict = classify(evidence)
    assert verdict.candidates[0] is verdict.reason


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from(["id", "request", "response", "exception", "context", "lane"]), JSON))
def test_any_object_is_a_case(case: dict[str, object]) -> None:
    assert classify(evidence_from_case(case)).reason in Reason


@settings(max_examples=80, deadline=None)
@given(TEXT)
def test_any_text_may_be_pasted(text: str) -> None:
    assert all(reason in Reason for reason in causes_of(text))


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "model ",
        "max_tokens ",
        "'",
        "<",
        "{",
        "[",
        "data: {\n",
        "<script",
        "渠道",
        "provided: sk-**",
        '{"a":',
    ],
)
def test_a_hostile_megabyte_is_judged_in_two_seconds(unit: str) -> None:
    body = unit * (1024 * 1024 // len(unit))
    begun = time.perf_counter()
    classify(Evidence(status=400, body=body))
    assert time.perf_counter() - begun < 2


@pytest.mark.parametrize("line", ["", "{", "[]", '"text"', "null", "17", "[" * 100_000])
def test_a_line_that_is_no_object_is_refused_in_words(line: str) -> None:
    with pytest.raises(ValueError, match=r"^The line "):
        classify_line(line)


def test_fields_of_odd_types_count_as_absent() -> None:
    answer = {"status": "404", "headers": [], "body": {"detail": "Not Found"}}
    line = json.dumps({"request": 3, "response": answer, "context": "x"})
    assert classify_line(line)["layer"] == "path"
