"""The verdict against recorded reports and against variants of them."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from checks.reason import Reason
from checks.verdict.cases import classify_line
from tests.checks.verdict.scoring import family_misses, misses, recorded, variants

# What is no exchange with an endpoint: it is found on a host, in a client's environment, in a rollout.
BESIDE_EXCHANGES = {"host", "sdk", "agent", "rollout", "preflight"}
TAXONOMY = [reason for reason in Reason if reason.layer not in BESIDE_EXCHANGES]


def test_98_of_100_confident_cases_get_their_code() -> None:
    cases = recorded("high")
    wrong = misses(cases)
    assert len(wrong) <= len(cases) * 0.02, wrong


def test_99_of_100_confident_cases_get_their_family() -> None:
    cases = recorded("high")
    wrong = family_misses(cases)
    assert len(wrong) <= len(cases) * 0.01, wrong


def test_95_of_100_less_confident_cases_get_their_code() -> None:
    cases = recorded("medium")
    wrong = misses(cases)
    assert len(wrong) <= len(cases) * 0.05, wrong


def test_98_of_100_variants_get_their_code() -> None:
    cases = variants()
    wrong = misses(cases)
    assert len(wrong) <= len(cases) * 0.02, wrong


def test_every_code_of_the_taxonomy_has_two_variants() -> None:
    counts = Counter(case["expect"]["code"] for case in variants())
    assert [reason.value for reason in TAXONOMY if counts[reason.value] < 2] == []


@pytest.mark.parametrize("case", recorded("low"), ids=lambda case: case["id"])
def test_an_unconfirmed_case_is_answered_all_the_same(case: dict[str, object]) -> None:
    assert classify_line(json.dumps(case))["code"] in set(Reason)


def test_the_expectation_of_a_case_is_never_read() -> None:
    blind = [{**case, "expect": None} for case in recorded()]
    assert [classify_line(json.dumps(case)) for case in blind] == [
        classify_line(json.dumps(case)) for case in recorded()
    ]


def test_the_verdict_comes_first_among_its_candidates() -> None:
    judged = [classify_line(json.dumps(case)) for case in recorded()]
    assert all(got["candidates"][0] == got["code"] for got in judged)
