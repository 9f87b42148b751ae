"""Histograms that merge, and quantiles that stay within their stated error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from panel import rollups

LATENCIES = some.lists(some.floats(min_value=1, max_value=120_000), min_size=1, max_size=200)


def histogram(values: list[float]) -> int:
    return sum(rollups.one(value) for value in values)


def exact(values: list[float], q: float) -> float:
    """The smallest value below or at which at least the share q lies."""
    ordered = sorted(values)
    return next(value for rank, value in enumerate(ordered, start=1) if rank >= q * len(ordered))


@given(LATENCIES, some.sampled_from([0.5, 0.95, 0.99]))
def test_a_quantile_is_within_the_stated_error(values: list[float], q: float) -> None:
    assert rollups.ERROR < 0.1
    assert rollups.quantile(histogram(values), q) == pytest.approx(exact(values, q), rel=rollups.ERROR + 1e-9)


@given(LATENCIES, LATENCIES)
def test_adding_two_histograms_counts_both(first: list[float], second: list[float]) -> None:
    together = rollups.unpack(rollups.pack(histogram(first))) + histogram(second)
    assert together == histogram(first + second)
    assert sum(rollups.counts(together)) == len(first) + len(second)


def test_a_month_every_ten_seconds_stays_small_and_does_not_spill_over() -> None:
    month = 260_000 * rollups.one(3_600_000) + 260_000 * rollups.one(400)
    assert len(rollups.pack(month)) <= 240
    assert sorted(rollups.counts(month))[-2:] == [260_000, 260_000]


def test_nothing_observed_has_no_quantile() -> None:
    assert rollups.quantile(0, 0.95) is None
    assert rollups.pack(0) == b""


def test_below_a_millisecond_is_the_first_bucket() -> None:
    assert {rollups.one(value) for value in (0, 0.2, 1, 1.19)} == {1}


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ((), ""),
        (("", ""), ""),
        (("", "ok"), "ok"),
        (("ok", "down", "degraded"), "down"),
        (("paused", "unknown", "not_testable"), "unknown"),
    ],
)
def test_the_worst_state_wins_and_evidence_beats_none(states: tuple[str, ...], expected: str) -> None:
    assert rollups.worst(states) == expected
