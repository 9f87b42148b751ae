"""The façade: what it exports, and that it is cheap to import."""

from __future__ import annotations

import subprocess
import sys

import checks


def test_the_names_are_sorted_and_all_there() -> None:
    assert checks.__all__ == sorted(checks.__all__)
    assert all(getattr(checks, name) is not None for name in checks.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(checks, "climb_faster")


def test_importing_the_vocabulary_loads_no_network_library() -> None:
    script = "import checks, sys; print({'httpx', 'h11', 'asyncio', 'ssl'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_the_engine_loads_without_the_web_project() -> None:
    script = (
        "import checks.__main__, checks.batch, sys; print({'django', 'celery', 'redis'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
