"""From letters to a confirmed state: thresholds both ways."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from checks import EndpointKind, LaneKind, Status
from panel import ledger
from panel.ledger.states import LETTERS, is_flapping, next_state
from panel.models import Check, Endpoint, Lane
from tests import make
from tests.panel.time.outcomes import failed, live, started, state_of


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


def test_a_lane_flaps_that_changed_four_times_and_is_calm_after_five_results_without_a_change() -> None:
    check = Check(down_k=1, down_n=1, up_k=1, up_n=1)
    assert not is_flapping("odoo", check, already=False)
    assert is_flapping("ododo", check, already=False)
    assert is_flapping("odooooo"[:6], check, already=True)
    assert not is_flapping("odooooooo", check, already=True)
    assert not is_flapping("oooooooooo", check, already=True)


def test_failures_that_confirm_nothing_are_no_flapping() -> None:
    assert not is_flapping("ododododod", Check(down_k=2, down_n=2, up_k=1, up_n=1), already=False)


@pytest.mark.django_db
def test_the_ledger_marks_a_flapping_lane_and_lets_the_mark_go() -> None:
    check = make.check(down_k=1, down_n=1)
    live(check, "ododo")
    assert state_of(check).flapping
    live(check, "ooooo", start=make.NOON + timedelta(hours=1))
    assert not state_of(check).flapping


@pytest.mark.django_db
@pytest.mark.parametrize(("places", "state"), [(("panel",), "ok"), (("panel", "host:gpu-a12"), "down")])
def test_a_second_place_confirms_a_failure_at_once(places: tuple[str, ...], state: str) -> None:
    check = make.check()
    live(check, "o")
    at = make.NOON + timedelta(minutes=5)
    (run,) = started([make.run(check, at)], at)
    outcome = failed(run, at)
    seen = tuple(replace(outcome.steps[1], place=place) for place in places)
    ledger.close_many([(run, replace(outcome, steps=(outcome.steps[0], *seen)))], at + timedelta(seconds=1))
    assert state_of(check).state == state
