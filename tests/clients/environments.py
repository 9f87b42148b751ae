"""Throwaway environments with real client software, each made once of a lock and kept under `var/`."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEPT_IN = HERE.parents[1] / "var" / "clients"
INSTALL_SECONDS = 600
STAMP = "complete"


class CannotInstall(Exception):
    """The packages could not be had; the text holds the installer's last words."""


def python_of(name: str, *, find_links: str = "", seconds: float = INSTALL_SECONDS) -> Path:
    """The interpreter of the environment that `<name>.lock` describes, made when it is not there yet.

    `find_links` names a folder or page with wheels that the index lacks; `seconds` bounds each step of
    the installation. Raises CannotInstall. Safe to call from several processes at once.
    """
    lock = HERE / f"{name}.lock"
    made_of = lock.read_bytes() + sys.version.encode()
    folder = KEPT_IN / f"{name}-{hashlib.sha256(made_of).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.guard").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (folder / STAMP).exists():
            _make(folder, lock, find_links, seconds)
    return _python(folder)


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _make(folder: Path, lock: Path, find_links: str, seconds: float) -> None:
    """Fill the folder; its stamp is written last, so a broken attempt is made anew.

    A lock names all that is wanted, and what it leaves out is not wanted: nothing is added to it.
    """
    _run([_base_python(), "-m", "venv", "--without-pip", "--clear", str(folder)], seconds)
    what = ["install", "-q", "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(lock)]
    if find_links:
        what += ["--find-links", find_links]
    uv = shutil.which("uv")
    if uv:
        _run([uv, "pip", *what[:1], "--python", str(_python(folder)), *what[1:]], seconds)
    else:
        pip = [_base_python(), "-m", "pip", "--python", str(_python(folder))]
        _run([*pip, *what, "--no-input", "--no-compile", "--disable-pip-version-check"], seconds)
    (folder / STAMP).touch()


def _base_python() -> str:
    """The Python outside any environment, which has pip."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def _run(command: list[str], seconds: float) -> None:
    environment = os.environ | {"PIP_CONSTRAINT": os.devnull, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    try:
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise CannotInstall(f"no end after {seconds:.0f} s: {' '.join(command[:4])}") from error
    if ended.returncode != 0:
        raise CannotInstall(ended.stderr.strip()[-600:] or f"exit {ended.returncode}")
