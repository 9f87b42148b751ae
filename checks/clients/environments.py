"""Python environments made beside and renamed into place, so that one that is there is whole."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from checks.redact import redact

INSTALL_SECONDS: Final = 600.0
FREEZE_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.2
MAX_COMPLAINT: Final = 600
STAMP: Final = "preflight.json"
GUARD: Final = ".installing"
MAKING: Final = ".making-"

# The machine's own settings choose the index; these alone would break or misplace an installation.
_OVERRIDES: Final = {"PIP_CONSTRAINT": os.devnull, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
_FREEZE: Final = (
    "import importlib.metadata as m;"
    "print('\\n'.join(sorted({d.metadata['Name'] + '==' + d.version for d in m.distributions()})))"
)


class CannotInstall(Exception):
    """The packages could not be had; the text holds the installer's last words, free of passwords."""


def digest(made_of: str) -> str:
    """Return twelve characters that name an environment: what it is made of, and this Python."""
    return hashlib.sha256(made_of.encode() + sys.version.encode()).hexdigest()[:12]


def python_in(folder: Path) -> Path:
    """Return the interpreter of an environment."""
    return folder / "bin" / "python"


def stamp_of(folder: Path) -> Mapping[str, object] | None:
    """Return what was recorded when the environment was made; None for a folder that is none."""
    try:
        found = json.loads((folder / STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def ensure(
    folder: Path,
    wanted: Sequence[str],
    *,
    seconds: float = INSTALL_SECONDS,
    about: Mapping[str, str] = {},
    python: str = "",
) -> Path:
    """Make the environment unless it is there, and return its interpreter.

    `wanted` are arguments of `pip install`, to which wheels alone are allowed; `seconds` bounds each step;
    `about` goes into its record beside the packages it got; `python` is the interpreter it is made with, this
    one's own where empty. One installation at a time in one parent
    folder, over all processes. Raises CannotInstall.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(folder.parent, seconds):
        if stamp_of(folder) is None:
            _clear(folder)
            _make(folder, wanted, seconds, about, python or _base_python())
    return python_in(folder)


def discard(folder: Path, *, seconds: float = INSTALL_SECONDS) -> None:
    """Remove an environment: out of its place at once, then file by file. Raises CannotInstall when an
    installation does not end in `seconds`."""
    with _alone(folder.parent, seconds):
        fresh = folder.with_name(MAKING + secrets.token_hex(4))
        folder.rename(fresh)
        shutil.rmtree(fresh, ignore_errors=True)


@contextlib.contextmanager
def _alone(parent: Path, seconds: float) -> Iterator[None]:
    ends = time.monotonic() + seconds
    with (parent / GUARD).open("w") as guard:
        while True:
            try:
                fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > ends:
                    raise CannotInstall("Another installation is under way.") from error
                time.sleep(POLL_SECONDS)
        yield


def _clear(folder: Path) -> None:
    """Remove what an attempt that was cut off has left."""
    for left in (*folder.parent.glob(f"{MAKING}*"), folder):
        shutil.rmtree(left, ignore_errors=True)


def _make(folder: Path, wanted: Sequence[str], seconds: float, about: Mapping[str, str], python: str) -> None:
    fresh = folder.with_name(MAKING + secrets.token_hex(4))
    try:
        _run([python, "-m", "venv", "--without-pip", str(fresh)], seconds)
        _run([*_installer(fresh), "--only-binary", ":all:", *wanted], seconds)
        packages = _run([str(python_in(fresh)), "-I", "-c", _FREEZE], FREEZE_SECONDS).split()
        (fresh / STAMP).write_text(json.dumps({**about, "packages": packages}, indent=1), "utf-8")
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _installer(folder: Path) -> list[str]:
    """uv where it is found, else the pip of this Python or of the one below it."""
    python = str(python_in(folder))
    uv = shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "-q", "--python", python]
    runner = sys.executable if importlib.util.find_spec("pip") else _base_python()
    quiet = ["--no-input", "--no-compile", "--disable-pip-version-check"]
    return [runner, "-m", "pip", "--python", python, "install", "-q", *quiet]


def _base_python() -> str:
    """The Python outside any environment, which has pip."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def _run(command: list[str], seconds: float) -> str:
    try:
        ended = subprocess.run(
            command,
            env=os.environ | _OVERRIDES,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CannotInstall(f"No end after {seconds:.0f} s: {' '.join(command[:4])}") from error
    except OSError as error:
        raise CannotInstall(f"{command[0]}: {error.strerror}") from error
    if ended.returncode != 0:
        said = redact(ended.stderr.strip(), ())[-MAX_COMPLAINT:]
        raise CannotInstall(said or f"{command[0]} ended with {ended.returncode}")
    return ended.stdout
