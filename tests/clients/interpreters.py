"""Newer Pythons for software that this one is too old for: found on the machine, never installed here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMED_BY = "PREFLIGHT_TEST_PYTHON312"
LEAST = (3, 12)
ASK = "import sys, venv; print(*sys.version_info[:2])"
ASK_SECONDS = 20


def newer_python() -> str:
    """A Python of 3.12 or newer that can make environments; empty where none is found."""
    return next((python for python in _candidates() if _is_newer(python)), "")


def _candidates() -> Iterator[str]:
    """The one that is named, this one, then what the path, pyenv and uv offer."""
    yield from filter(None, (os.environ.get(NAMED_BY), sys.executable))
    for name in ("python3.12", "python3.13", "python3.14", "python3"):
        yield shutil.which(name) or ""
    home = Path.home()
    roots = (
        Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions",
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local" / "share" / "uv" / "python"),
    )
    for root in roots:
        yield from map(str, sorted(root.glob("*3.1[2-9]*/bin/python3")))


def _is_newer(python: str) -> bool:
    try:
        told = subprocess.run(
            [python, "-c", ASK], capture_output=True, text=True, timeout=ASK_SECONDS, check=False
        )
        major, minor = map(int, told.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return (major, minor) >= LEAST
