"""Growth: what a stored probe costs at 100, 1,000 and 5,000 lanes, in turn and in one run.

`python -m tests.bench.growth [--seconds 8] [--rounds 2]` prints CPU milliseconds a probe, this process and
the database, for each number of lanes, and how far each is from their middle (target: within 20 %).
"""

from __future__ import annotations

import argparse
import collections
import statistics
import tempfile
from pathlib import Path

from tests.bench.instance import instance, make_checks
from tests.bench.saturated import Spent, saturate

SIZES = (100, 1_000, 5_000)


def main() -> None:
    """Print one line a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    costs: dict[int, list[float]] = {size: [] for size in SIZES}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, instance(Path(name)) as ours:
        for _ in range(given.rounds):
            for size in SIZES:
                costs[size].append(_cost(size, given.seconds, ours.target, ours.database))
    found = {size: statistics.median(each) for size, each in costs.items()}
    middle = (max(found.values()) + min(found.values())) / 2
    for size, cost in found.items():
        print(f"{size:6} lanes: {cost:.3f} CPU ms a stored probe, {cost / middle - 1:+.0%} from the middle")


def _cost(lanes: int, seconds: float, target: int, database: int) -> float:
    """CPU milliseconds for each probe of so many new lanes, which rest afterwards."""
    from panel.models import Check

    spent: Spent = collections.Counter()
    stored, _ = saturate(make_checks(lanes, target, 60), seconds, database, spent)
    Check.objects.update(next_run_at=None)
    return (spent["whole process"] + spent["database"]) * 1000 / stored


if __name__ == "__main__":
    main()
