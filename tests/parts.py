"""The real parts that some tests need: a test names its part, and is skipped by that name without it."""

from __future__ import annotations

import os

import pytest

REQUIRE_ALL = os.environ.get("PREFLIGHT_REQUIRE_ALL", "") not in ("", "0")


def require(part_found: object, name: str) -> None:
    """Skip the test when the part was not found; fail instead where nothing may be skipped."""
    if part_found:
        return
    if REQUIRE_ALL:
        pytest.fail(f"{name} is absent, and PREFLIGHT_REQUIRE_ALL is set", pytrace=False)
    pytest.skip(f"needs {name}")
