"""How runs fold into half hours and those into ranges: latency histograms, worst states.

A histogram is a dict from bucket to count. Bucket b holds the latencies from GROWTH**b up to
GROWTH**(b + 1) milliseconds and is read out as its geometric middle, so a quantile is off by at most
`ERROR` (9.6 %) of the true one; below one millisecond all is bucket 0. Two histograms merge by
adding counts, so hours make days and days make months without a second look at any run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

GROWTH = 1.2
ERROR = math.sqrt(GROWTH) - 1
_LOG_GROWTH = math.log(GROWTH)

# The order in which several states fold into one, worst first.
WORST_FIRST = ("down", "degraded", "unknown", "not_testable", "maintenance", "paused", "ok")
_RANK = {state: rank for rank, state in enumerate((*WORST_FIRST, ""))}


def bucket(milliseconds: float) -> int:
    """Return the bucket of a latency."""
    return max(0, math.floor(math.log(milliseconds) / _LOG_GROWTH)) if milliseconds > 1 else 0


def merge(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Return the sum of the histograms."""
    total: dict[int, int] = {}
    for histogram in histograms:
        for key, count in histogram.items():
            total[key] = total.get(key, 0) + count
    return total


def quantile(histogram: Mapping[int, int], q: float) -> float | None:
    """Return the latency in milliseconds below which the share `q` lies; None of an empty histogram."""
    rank = math.ceil(q * sum(histogram.values()))
    for key in sorted(histogram):
        rank -= histogram[key]
        if rank <= 0:
            return float(GROWTH ** (key + 0.5))
    return None


def worst(states: Iterable[str]) -> str:
    """Return the worst of the states; "" (no evidence) only when there is nothing else."""
    return min(states, key=_RANK.__getitem__, default="")
