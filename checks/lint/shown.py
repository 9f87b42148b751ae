"""What may be shown of a file's own words: names and paths, but nothing that could be a key."""

from __future__ import annotations

import re
from typing import Final

# A vendor's beginning anywhere, or a long run of letters and digits that no person would choose as a name.
_KEY_LIKE: Final = re.compile(
    r"(?:sk|pk|rk|ak|hf|gsk|xai|nvapi|pplx|csk|fw|r8|ghp|ms|AIza|eyJ)[-_A-Za-z0-9]*[-_0-9][\w-]{5,}"
    r"|(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[\w+/-]{20,}"
    r"|(?<![\w])[0-9a-fA-F]{24,}"
)
HIDDEN: Final = "\u2026"


def shown(text: str) -> str:
    """Return a name or path with an ellipsis in the place of all that looks like a key."""
    return _KEY_LIKE.sub(HIDDEN, text[:200])
