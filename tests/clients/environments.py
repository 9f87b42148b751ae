"""Throwaway environments with real client software, each made once and kept under `var/`."""

from __future__ import annotations

from pathlib import Path

from checks.clients import CannotInstall, install, requirement
from checks.clients.environments import INSTALL_SECONDS, digest, ensure

__all__ = ["HERE", "KEPT_IN", "CannotInstall", "python_of", "python_of_library"]

HERE = Path(__file__).resolve().parent
# Published as source alone, and pure Python.
WITHOUT_WHEELS = {"agl": "antlr4-python3-runtime", "agl0": "gpustat"}
KEPT_IN = HERE.parents[1] / "var" / "clients"


def python_of(name: str, *, find_links: str = "", seconds: float = INSTALL_SECONDS, python: str = "") -> Path:
    """The interpreter of the environment that `<name>.lock` describes, made when it is not there yet.

    `find_links` names a folder or page with wheels that the index lacks; `seconds` bounds each step of
    the installation; `python` is the interpreter to make it with, this one's own where empty. Raises
    CannotInstall. Safe to call from several processes at once.
    """
    lock = HERE / f"{name}.lock"
    wanted = ["--no-deps", "--require-hashes", "-r", str(lock)]
    if name in WITHOUT_WHEELS:
        wanted += ["--no-binary", WITHOUT_WHEELS[name]]
    if find_links:
        wanted += ["--find-links", find_links]
    folder = KEPT_IN / f"{name}-{digest(lock.read_text() + python)}"
    return ensure(folder, wanted, seconds=seconds, python=python)


def python_of_library(text: str) -> Path:
    """The interpreter of a library as the product installs it ("openai", "openai==2.15.0")."""
    return install(KEPT_IN, requirement(text)).python
