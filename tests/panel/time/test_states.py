"""From letters to a confirmed state: thresholds both ways."""

from __future__ import annotations

import pytest

from checks import EndpointKind, LaneKind, Status
from panel.ledger.states import LETTERS, next_state
from panel.models import Check, Endpoint, Lane


def states(letters: str, **thresholds: int) -> list[str]:
    """The confirmed state after each letter, from a lane never looked at."""
    check = Check(**thresholds)
    before, seen = "unknown", []
    for end in range(1, len(letters) + 1):
        before = next_state(before, letters[:end], check)
        seen.append(before)
    return seen


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("o", ["ok"]),
        ("od", ["ok", "ok"]),
        ("odd", ["ok", "ok", "down"]),
        ("oddo", ["ok", "ok", "down", "ok"]),
        ("odod", ["ok", "ok", "ok", "ok"]),
        ("d", ["unknown"]),
        ("dd", ["unknown", "down"]),
        ("g", ["degraded"]),
        ("og", ["ok", "ok"]),
        ("ogg", ["ok", "ok", "degraded"]),
        ("oggo", ["ok", "ok", "degraded", "ok"]),
        ("ddg", ["unknown", "down", "degraded"]),
    ],
)
def test_two_of_two_failures_are_down_and_one_pass_is_up_again(letters: str, expected: list[str]) -> None:
    assert states(letters, down_k=2, down_n=2, up_k=1, up_n=1) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("odod", "down"),
        ("odood", "ok"),
        ("ooddo", "down"),
        ("ooddoo", "ok"),
        ("ooddgg", "degraded"),
    ],
)
def test_two_of_three_both_ways(letters: str, expected: str) -> None:
    assert states(letters, down_k=2, down_n=3, up_k=2, up_n=2)[-1] == expected


def test_not_testable_is_said_at_once_and_counts_neither_way() -> None:
    assert states("on") == ["ok", "not_testable"]
    assert states("odnd") == ["ok", "ok", "not_testable", "down"]
    assert states("no") == ["not_testable", "ok"]


def test_one_failure_after_not_testable_is_not_yet_down() -> None:
    assert states("nd") == ["not_testable", "unknown"]


def test_a_lane_that_goes_down_needs_as_many_passes_as_its_check_says() -> None:
    assert states("ddoo", up_k=2, up_n=2) == ["unknown", "down", "down", "ok"]


def test_every_status_of_an_outcome_has_a_letter() -> None:
    assert set(LETTERS) == set(Status) - {Status.NOT_REACHED}


def test_the_words_of_the_rows_are_the_words_of_the_engine() -> None:
    assert set(Endpoint.Kind.values) == set(EndpointKind)
    assert set(Lane.Kind.values) == set(LaneKind)
