"""The sentences of the rules, in English and Chinese."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from checks.lint.finding import Finding

LANGUAGES: Final = ("en", "zh")
"""The languages of the sentences: English and simplified Chinese."""

LONGEST_FACT: Final = 160


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a rule: the fault, the mend, and the probe that decides, empty where the file does.
    Names in braces stand for the facts of a finding."""

    fault: str
    mend: str
    probe: str = ""


def say(finding: Finding, lang: str = "en") -> str:
    """Return the sentences on a finding, facts put in. `lang` is "en" or "zh", else KeyError is raised.

    Facts come from a file and may hold anything, so they are cut and stripped of what does not print.
    """
    told = sentences()[finding.rule, lang]
    text = (" " if lang == "en" else "").join(part for part in (told.fault, told.mend, told.probe) if part)
    for name, value in {"key": finding.key, **finding.facts}.items():
        text = text.replace(f"{{{name}}}", _printable(value))
    return text


def _printable(value: str) -> str:
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in value[:LONGEST_FACT])


@cache
def sentences() -> Mapping[tuple[str, str], Said]:
    """Return all sentences by rule and language, read once a process."""
    text = files(__package__).joinpath("messages.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {
            (rule, lang): Said(said["fault"], said["mend"], said.get("probe", ""))
            for rule, languages in tomllib.loads(text).items()
            for lang, said in languages.items()
        }
    )
