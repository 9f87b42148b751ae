"""A configuration file as the rules see it: settings with their lines, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeVar, cast

from checks.lint.readers import Reading

Path = tuple[str | int, ...]
Told = TypeVar("Told")


class Format(StrEnum):
    """How a file is written."""

    DOTENV = "dotenv"
    SHELL = "shell"
    FISH = "fish"
    TOML = "toml"
    YAML = "yaml"
    JSON = "json"

    @property
    def by_lines(self) -> bool:
        """Whether each line is an assignment, read by one of the dialects."""
        return self in (Format.DOTENV, Format.SHELL, Format.FISH)


class Kind(StrEnum):
    """What a document is for, told by its structure."""

    PLAIN = "plain"
    LITELLM = "litellm"
    COMPOSE = "compose"
    CLAUDE = "claude"
    CODEX = "codex"


class Role(StrEnum):
    """What a setting means to a client, told by its name."""

    BASE = "base"
    KEY = "key"
    KEY_NAME = "key_name"
    MODEL = "model"
    PROXY = "proxy"
    NO_PROXY = "no_proxy"
    CA = "ca"
    ORG = "org"
    VERSION = "version"
    PROVIDER = "provider"
    OTHER = "other"


class Scalar(StrEnum):
    """What type a document gives a value that was meant as text."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth"
    DATE = "date"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Written:
    """How a line says its assignment. `raw` is all behind the sign; `tail` what follows a closing quote."""

    raw: str = field(repr=False)
    quote: str = ""
    tail: str = field(default="", repr=False)
    sign: str = "="
    exported: bool = False
    blank_before: bool = False
    blank_after: bool = False
    closed: bool = True


@dataclass(frozen=True, slots=True)
class Item:
    """One setting. `key` is shown; `value` is without its quotes and comment; `group` holds together the
    settings of one mapping; `end` is its last line. `written` is None outside of line formats."""

    name: str
    key: str
    value: str = field(repr=False)
    line: int
    role: Role = Role.OTHER
    end: int = 0
    path: Path = ()
    group: str = ""
    scalar: Scalar = Scalar.TEXT
    quoted: bool = False
    written: Written | None = None

    @property
    def is_reference(self) -> bool:
        """Whether the value names a place to take it from, in any tool's spelling."""
        bare = self.value.strip()
        return bare.startswith(("os.environ/", "${", "$(", "{{", "{env:", "op://", "vault:")) or (
            bare.startswith("$") and bare[1:].replace("_", "").isalnum() and not bare[1:2].isdigit()
        )


@dataclass(frozen=True, slots=True)
class Fault:
    """What a reader of the format could not read. `kind` is the rule that says so."""

    kind: str
    line: int
    key: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stray:
    """A line of a line format that assigns nothing."""

    text: str = field(repr=False)
    line: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What a parser found. `maps` are the mappings of a document with their first lines."""

    items: tuple[Item, ...] = ()
    strays: tuple[Stray, ...] = ()
    faults: tuple[Fault, ...] = ()
    maps: Mapping[Path, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Sheet:
    """A file, read. `noted` are assignments that stand in comments of a document, as notes on its
    surroundings; `remarks` is the text of all comments, lower case."""

    name: str
    data: bytes = field(repr=False)
    text: str = field(repr=False)
    lines: tuple[str, ...] = field(repr=False)
    format: Format
    kind: Kind
    reading: Reading
    contents: Contents
    noted: tuple[Item, ...] = ()
    comments: Mapping[int, str] = field(default_factory=dict)
    _known: dict[object, object] = field(default_factory=dict, repr=False, compare=False)

    def once(self, tell: Callable[[Sheet], Told]) -> Told:
        """Return what a function tells of this sheet, asked once for all rules."""
        if tell not in self._known:
            self._known[tell] = tell(self)
        return cast(Told, self._known[tell])

    @property
    def items(self) -> tuple[Item, ...]:
        """The settings, in the order of the file."""
        return self.contents.items

    @cached_property
    def remarks(self) -> str:
        """What people wrote beside the settings, in lower case."""
        told = [item.value for item in self.items if item.name.strip("_").lower() in _REMARK_NAMES]
        return "\n".join([*self.comments.values(), *told]).lower()

    def of(self, *roles: Role) -> Iterator[Item]:
        """Yield the settings of some roles."""
        return (item for item in self.items if item.role in roles)

    def beside(self, item: Item) -> Iterator[Item]:
        """Yield the other settings of an item's mapping."""
        return (other for other in self._groups[item.group] if other is not item)

    def named(self, *names: str) -> Iterator[Item]:
        """Yield the settings of these names, whatever their case."""
        wanted = {name.lower() for name in names}
        return (item for item in self.items if item.name.lower() in wanted)

    @cached_property
    def _groups(self) -> Mapping[str, tuple[Item, ...]]:
        groups: dict[str, list[Item]] = {}
        for item in self.items:
            groups.setdefault(item.group, []).append(item)
        return {group: tuple(items) for group, items in groups.items()}

    @property
    def is_template(self) -> bool:
        """Whether the name says that the file is an example, whose values are to be filled in."""
        parts = self.name.replace("\\", "/").rpartition("/")[2].lower().replace("-", ".").split(".")
        return bool({"example", "sample", "template", "dist", "tmpl", "tpl"} & set(parts))


_REMARK_NAMES = frozenset(("comment", "note", "notes", "description", "remark", "comments"))
