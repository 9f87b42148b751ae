"""The reference task of a dry run: sums whose answers are known, so that a reward can be computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ORDER: Final = "Work it out, and end with the result as digits."
SUMS: Final[tuple[tuple[str, int], ...]] = (
    ("What is 17 plus 25?", 42),
    ("What is 6 times 14?", 84),
    ("What is 120 minus 47?", 73),
    ("What is 144 divided by 12?", 12),
    ("What is 9 times 9?", 81),
    ("What is 250 plus 375?", 625),
    ("What is 1000 minus 389?", 611),
    ("What is 15 times 11?", 165),
)
"""Questions and their answers."""


def messages(question: str) -> list[Mapping[str, str]]:
    """Return what is sent for one question."""
    return [{"role": "user", "content": f"{question} {ORDER}"}]


def reward(text: str, right: int) -> float:
    """Return 1.0 where the last number of the text is the right one, else 0.0; never raises."""
    kept = "".join(
        letter if letter.isascii() and letter.isdigit() else " " for letter in text.replace(",", "")
    )
    numbers = kept.split()
    return float(bool(numbers) and numbers[-1].lstrip("0") == str(right))
