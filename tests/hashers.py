"""The password hash of the tests: Argon2 as in the product, with the smallest cost it allows."""

from __future__ import annotations

from django.contrib.auth.hashers import Argon2PasswordHasher


class QuickArgon2(Argon2PasswordHasher):
    """One pass over a few kilobytes: milliseconds become microseconds, the format stays."""

    time_cost = 1
    memory_cost = 8
    parallelism = 1
