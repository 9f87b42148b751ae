"""The dictionary of reasons: for each code a title, a cause, a fix and a probe, in English and Chinese."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from checks.reason import Reason

__all__ = ["LANGUAGES", "Entry", "codes", "entry"]

LANGUAGES = ("en", "zh")
"""The languages of the dictionary: English and simplified Chinese."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a person reads on one reason: plain sentences, no markup.

    `fix` holds steps in order; `probe` is one sentence on what tells this cause from its look-alikes.
    """

    title: str
    cause: str
    fix: tuple[str, ...]
    probe: str


def entry(code: str, lang: str = "en") -> Entry:
    """Return the sentences on a code; `lang` is "en" or "zh".

    Raises KeyError for a code or a language that the dictionary does not have.
    """
    return _dictionary()[str(code), lang]


def codes() -> tuple[str, ...]:
    """Return all codes that have an entry in every language, in the order of `Reason`."""
    known = _dictionary()
    return tuple(
        reason.value for reason in Reason if all((reason.value, lang) in known for lang in LANGUAGES)
    )


@cache
def _dictionary() -> Mapping[tuple[str, str], Entry]:
    """Read one file a layer, once a process."""
    found: dict[tuple[str, str], Entry] = {}
    for layer in dict.fromkeys(reason.layer for reason in Reason):
        text = files(__package__).joinpath(f"{layer}.toml").read_text(encoding="utf-8")
        for code, languages in tomllib.loads(text).items():
            for lang, said in languages.items():
                found[code, lang] = Entry(said["title"], said["cause"], tuple(said["fix"]), said["probe"])
    return MappingProxyType(found)
