"""What the tests of the lint are about, read from the data beside them."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "data"
CONFIGURATIONS = DATA / "configs"


@dataclass(frozen=True)
class Configuration:
    """One recorded configuration and its verdict. `names` are relative to the folder of them all."""

    id: str
    names: tuple[str, ...]
    reader: str
    code: str
    line: int | None
    provable: bool

    def files(self) -> list[tuple[str, bytes]]:
        return [(name, (CONFIGURATIONS / name).read_bytes()) for name in self.names]


def configurations() -> list[Configuration]:
    """The recorded configurations."""
    lines = (CONFIGURATIONS / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return [_configuration(json.loads(line)) for line in lines]


def _configuration(verdict: dict[str, Any]) -> Configuration:
    file = verdict["file"]
    return Configuration(
        id=verdict["id"],
        names=tuple(file) if isinstance(file, list) else (file,),
        reader=verdict["reader"],
        code=verdict["verdict"],
        line=verdict["where"]["line"],
        provable=verdict["provable_from_file"],
    )


def variants() -> list[dict[str, Any]]:
    """Other files of the recorded kinds."""
    return list(tomllib.loads((DATA / "lint_variants.toml").read_text(encoding="utf-8"))["variant"])


def examples() -> dict[str, dict[str, Any]]:
    """For each rule a file that it strikes, and one that it leaves alone."""
    return tomllib.loads((DATA / "lint_rules.toml").read_text(encoding="utf-8"))


def line_of(number: int) -> int | None:
    """The data's -1 stands for a finding without a line."""
    return None if number == -1 else number
