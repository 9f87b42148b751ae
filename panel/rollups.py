"""How runs fold into half hours and those into ranges: latency histograms, worst states.

A histogram is one integer that holds a count for each bucket, `BITS` bits apiece, so that adding two
integers merges two histograms: halves make days and days make months without a second look at any
run. Bucket b holds the latencies from GROWTH**b up to GROWTH**(b + 1) milliseconds and is read out
as its geometric middle, so a quantile is off by at most `ERROR` (9.6 %) of the true one. What is
shorter than a millisecond is in the first bucket, what is longer than half an hour in the last.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

GROWTH = 1.2
ERROR = math.sqrt(GROWTH) - 1
LAST = 79
BITS = 24  # three bytes: sixteen million results a bucket: more than a year of one every two seconds
_LOG_GROWTH = math.log(GROWTH)

# The order in which several states fold into one, worst first.
WORST_FIRST = ("down", "degraded", "unknown", "not_testable", "maintenance", "paused", "ok")
_RANK = {state: rank for rank, state in enumerate((*WORST_FIRST, ""))}


def one(milliseconds: float) -> int:
    """Return the histogram of a single latency."""
    bucket = math.floor(math.log(milliseconds) / _LOG_GROWTH) if milliseconds > 1 else 0
    return 1 << BITS * min(bucket, LAST)


def pack(histogram: int) -> bytes:
    """Return the histogram as bytes to store; an empty one is empty."""
    return histogram.to_bytes((histogram.bit_length() + 7) // 8, "little")


def unpack(stored: bytes) -> int:
    """Return the histogram that was packed."""
    return int.from_bytes(stored, "little")


def counts(histogram: int) -> list[int]:
    """Return the count of each bucket up to the last that has one."""
    raw = histogram.to_bytes(-(-histogram.bit_length() // BITS) * 3, "little")
    return [
        low | middle << 8 | high << 16
        for low, middle, high in zip(raw[::3], raw[1::3], raw[2::3], strict=True)
    ]


def quantile(histogram: int, q: float) -> float | None:
    """Return the latency in milliseconds below which the share `q` lies; None of an empty histogram."""
    return quantiles(histogram, (q,))[0]


@lru_cache(maxsize=8192)  # a page shows the same bars again and again; only the last one changes
def quantiles(histogram: int, shares: tuple[float, ...]) -> tuple[float | None, ...]:
    """Return the quantile of each share (in rising order); the histogram is taken apart once."""
    found: list[float | None] = []
    buckets = counts(histogram)
    total, seen, bucket = sum(buckets), 0, -1
    for share in shares:
        rank = max(1, math.ceil(share * total))
        while total and seen < rank:
            bucket += 1
            seen += buckets[bucket]
        found.append(float(GROWTH ** (bucket + 0.5)) if total else None)
    return tuple(found)


def worst(states: Iterable[str]) -> str:
    """Return the worst of the states; "" (no evidence) only when there is nothing else."""
    return min(states, key=_RANK.__getitem__, default="")
