"""The real parts that some tests need: a test names its part, and is skipped by that name without it."""

from __future__ import annotations

import os

import pytest


def asked_for(name: str) -> bool:
    """Tell whether the environment variable is set to anything but nothing and 0."""
    return os.environ.get(name, "") not in ("", "0")


REQUIRE_ALL = asked_for("PREFLIGHT_REQUIRE_ALL")


def require(part_found: object, name: str) -> None:
    """Skip the test when the part was not found; fail instead where nothing may be skipped."""
    if part_found:
        return
    if REQUIRE_ALL:
        pytest.fail(f"{name} is absent, and PREFLIGHT_REQUIRE_ALL is set", pytrace=False)
    pytest.skip(f"needs {name}")
