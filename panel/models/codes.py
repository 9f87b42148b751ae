"""Public codes: how pages and addresses name a row, since a primary key is never shown."""

from __future__ import annotations

import secrets

# No vowels and no look-alikes: a code spells no word and can be read over the telephone.
ALPHABET = "23456789bcdfghjkmnpqrstvwxz"


def new_code() -> str:
    """Return eight random characters: 27^8, about 2.8e11 codes."""
    return _random(8)


def new_run_code() -> str:
    """Return ten random characters; runs are many, and their code is all a link needs."""
    return _random(10)


def _random(length: int) -> str:
    """Return so many random letters from one call to the system, which is what costs."""
    letters = ""
    while len(letters) < length:
        fair = (byte for byte in secrets.token_bytes(2 * length) if byte < 256 - 256 % len(ALPHABET))
        letters += "".join(ALPHABET[byte % len(ALPHABET)] for byte in fair)
    return letters[:length]
