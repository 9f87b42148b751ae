"""Scores the verdict over recorded cases: right codes, families and layers, by confidence.

Run: python -m tests.bench.verdict_score [FILE.jsonl …] [--misses]
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

from checks.reason import Reason
from checks.verdict.cases import classify_line

HERE = Path(__file__).resolve().parent.parent / "checks"
FILES = (HERE / "data" / "cases.jsonl", HERE / "verdict" / "variants.jsonl")


def score(path: Path, misses: bool = False) -> dict[str, Counter[str]]:
    """Count per confidence: total, code, family, layer; print what missed when asked."""
    counts: dict[str, Counter[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        expect = case["expect"]
        got = classify_line(line)
        right = {expect["code"], *expect.get("also_accept", ())}
        families = {Reason(code).family for code in right} | {expect.get("family")}
        layers = {Reason(code).layer for code in right} | {expect.get("layer")}
        tally = counts.setdefault(case.get("confidence", "high"), Counter())
        tally["total"] += 1
        tally["code"] += got["code"] in right
        tally["family"] += got["family"] in families
        tally["layer"] += got["layer"] in layers
        if misses and got["code"] not in right:
            print(f"  {case['id']}: {got['code']} (of {got['candidates']}), wanted {sorted(right)}")
    return counts


def main(arguments: list[str]) -> None:
    """Print one table a file."""
    misses = "--misses" in arguments
    files = [Path(item) for item in arguments if not item.startswith("-")] or list(FILES)
    for path in files:
        if not path.exists():
            continue
        begun = time.perf_counter()
        counts = score(path, misses)
        spent = time.perf_counter() - begun
        print(f"{path.name}: {spent * 1000:.0f} ms")
        for confidence, tally in sorted(counts.items()):
            parts = [
                f"{name} {tally[name]}/{tally['total']} {tally[name] / tally['total']:.1%}"
                for name in ("code", "family", "layer")
            ]
            print(f"  {confidence:7} " + "   ".join(parts))


if __name__ == "__main__":
    main(sys.argv[1:])
