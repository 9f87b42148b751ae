"""The client libraries that Preflight knows: the newest by a hashed lock, any other version by its number."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from checks.clients.environments import (
    INSTALL_SECONDS,
    digest,
    discard,
    ensure,
    python_in,
    stamp_of,
)
from checks.spec import ClientSpec

NAMES: Final = ("openai", "langchain-openai", "litellm")
_REQUIREMENT: Final = re.compile(
    r"([a-z][a-z0-9-]{0,40})(?:==(\d{1,6}(?:\.\d{1,6}){0,3}(?:(?:a|b|rc)\d{1,4})?))?"
)


class UnknownLibrary(ValueError):
    """A text names no client library; its text is a sentence that says what is taken."""


@dataclass(frozen=True, slots=True)
class Library:
    """One library at one version. `is_locked` tells that it is the newest that this Preflight knows."""

    name: str
    version: str

    @property
    def is_locked(self) -> bool:
        """Whether a lock with hashes describes it."""
        return self.version == _locked_version(self.name)

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"

    def folder_in(self, folder: Path) -> Path:
        """Return where its environment stands."""
        made_of = _lock(self.name) if self.is_locked else str(self)
        return folder / f"{self.name}-{self.version}-{digest(made_of)}"


@dataclass(frozen=True, slots=True)
class Installed:
    """A library that is installed: where, and with which packages ("name==version" each)."""

    library: Library
    folder: Path
    packages: tuple[str, ...]

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return python_in(self.folder)

    @property
    def is_current(self) -> bool:
        """Whether it is made as this Preflight, with this Python, would make it."""
        return self.library.folder_in(self.folder.parent) == self.folder


def requirement(text: str) -> Library:
    """Read "openai" (the newest known) or "openai==2.15.0". Raises UnknownLibrary."""
    found = _REQUIREMENT.fullmatch(text.strip())
    if found is None or found[1] not in NAMES:
        raise UnknownLibrary(
            f"{text[:60]!r} is none of {', '.join(NAMES)}, with == and a version or without."
        )
    return Library(found[1], found[2] or _locked_version(found[1]))


def install(folder: Path, library: Library, *, seconds: float = INSTALL_SECONDS) -> Installed:
    """Install a library into an environment of its own under `folder`, unless it is there.

    The newest comes by its lock, each file checked by hash; another version is resolved by the package
    index, wheels only, and what came is recorded. `seconds` bounds each step. Raises CannotInstall.
    """
    target = library.folder_in(folder)
    about = {"name": library.name, "version": library.version}
    if library.is_locked:
        with tempfile.TemporaryDirectory() as scratch:
            lock = Path(scratch, "requirements.txt")
            lock.write_text(_lock(library.name), "utf-8")
            # A lock names all that is wanted, and what it leaves out is not wanted.
            wanted = ["--no-deps", "--require-hashes", "-r", str(lock)]
            ensure(target, wanted, seconds=seconds, about=about)
    else:
        ensure(target, [str(library)], seconds=seconds, about=about)
    found = _read(target)
    if found is None:
        raise RuntimeError("An environment that was made bears its stamp.")
    return found


def installed(folder: Path) -> tuple[Installed, ...]:
    """Return what is installed under `folder`, by name, the newest version first."""
    try:
        places = [place for place in folder.iterdir() if not place.name.startswith(".")]
    except OSError:
        return ()
    found = [one for one in map(_read, places) if one is not None]
    newest_first = sorted(found, key=lambda one: _rank(one.library.version), reverse=True)
    return tuple(sorted(newest_first, key=lambda one: NAMES.index(one.library.name)))


def remove(folder: Path, library: Library) -> bool:
    """Remove every environment of that library and version; tell whether there was one. Raises
    CannotInstall when an installation under way does not end."""
    found = [one for one in installed(folder) if one.library == library]
    for one in found:
        discard(one.folder)
    return bool(found)


def available(folder: Path, names: Iterable[str]) -> tuple[ClientSpec, ...]:
    """Return the libraries that `names` ask for ("openai", "openai==2.15.0"), each with its interpreter or
    without one where it is not installed. Without names: the newest of each that is installed.

    Cheap: looks at folders alone. What names no library is left out.
    """
    there = [one for one in installed(folder) if one.is_current or not one.library.is_locked]
    wanted = list(names)
    if not wanted:
        best = [_newest(there, name) for name in NAMES]
        return tuple(ClientSpec(one.library.name, "", str(one.python)) for one in best if one is not None)
    return tuple(spec for spec in (_spec(there, text) for text in wanted) if spec is not None)


def _spec(there: list[Installed], text: str) -> ClientSpec | None:
    try:
        library = requirement(text)
    except UnknownLibrary:
        return None
    if "==" not in text:
        newest = _newest(there, library.name)
        return ClientSpec(library.name, "", str(newest.python) if newest else "")
    same = next((one for one in there if one.library == library), None)
    return ClientSpec(library.name, library.version, str(same.python) if same else "")


def _newest(there: list[Installed], name: str) -> Installed | None:
    return next((one for one in there if one.library.name == name), None)


def _read(folder: Path) -> Installed | None:
    stamp = stamp_of(folder)
    if stamp is None or stamp.get("name") not in NAMES:
        return None
    packages = stamp.get("packages")
    listed = tuple(str(one) for one in packages) if isinstance(packages, list) else ()
    return Installed(Library(str(stamp["name"]), str(stamp.get("version"))), folder, listed)


def _rank(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:6])


@cache
def _lock(name: str) -> str:
    return (resources.files("checks.clients") / f"{name}.lock").read_text("utf-8")


@cache
def _locked_version(name: str) -> str:
    found = re.search(rf"^{re.escape(name)}==(\S+)", _lock(name), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"The lock of {name} does not name it.")
    return found[1]
