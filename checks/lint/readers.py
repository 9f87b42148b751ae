"""Who reads a file: how each reader takes its lines, as measured with the readers themselves.

A file has up to three readers: a dialect (who turns lines into values), a client (who uses the values) and
a place (whether that happens in a container).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from checks.lint.clients import CLIENTS, Client


class Take(StrEnum):
    """What becomes of a spelling: taken as meant, kept to the letter, lost without a word, refused with
    the whole file, or run as a command."""

    READ = "read"
    KEPT = "kept"
    LOST = "lost"
    REFUSED = "refused"
    RUN = "run"


class Cut(StrEnum):
    """Where a comment begins in an unquoted value."""

    NEVER = "never"
    AFTER_BLANK = "after_blank"
    ANYWHERE = "anywhere"


class Expansion(StrEnum):
    """What a dollar sign does in an unquoted or doubly quoted value."""

    NONE = "none"
    BRACES = "braces"
    NAMES = "names"
    SHELL = "shell"


class Twice(StrEnum):
    """Which of two lines with the same name counts."""

    LAST = "last"
    FIRST = "first"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one reader takes an environment file.

    `quotes` are the signs that it takes off. `needs_export` is fish's and a profile's. `keeps_edges`: blanks
    before the end of the line stay in the value. `file_wins`: the file's value counts where the variable is
    set already. `known` is false for the stand-in used where nobody said who reads.
    """

    name: str
    quotes: str = "\"'"
    cut: Cut = Cut.AFTER_BLANK
    export: Take = Take.READ
    needs_export: bool = False
    blanks: Take = Take.READ
    expansion: Expansion = Expansion.NONE
    expands_single: bool = False
    keeps_cr: bool = False
    keeps_edges: bool = False
    bom: Take = Take.READ
    twice: Twice = Twice.LAST
    many_lines: bool = True
    colon: bool = False
    stray: Take = Take.LOST
    odd_names: Take = Take.READ
    operators: bool = False
    file_wins: bool = False
    by_path: bool = False
    known: bool = True


_VERBATIM: Final = Dialect(
    "docker",
    quotes="",
    cut=Cut.NEVER,
    export=Take.REFUSED,
    blanks=Take.REFUSED,
    keeps_edges=True,
    many_lines=False,
    stray=Take.REFUSED,
    file_wins=True,
    by_path=True,
)
_SHELL: Final = Dialect(
    "shell",
    blanks=Take.RUN,
    expansion=Expansion.SHELL,
    keeps_cr=True,
    bom=Take.LOST,
    stray=Take.RUN,
    odd_names=Take.RUN,
    operators=True,
    file_wins=True,
    by_path=True,
)
_PYTHON: Final = Dialect("python-dotenv", expansion=Expansion.BRACES, expands_single=True)
_SPLITTER: Final = Dialect(
    "decouple", cut=Cut.NEVER, export=Take.LOST, bom=Take.LOST, many_lines=False, file_wins=False
)
_NODE: Final = Dialect("node", quotes="\"'`", cut=Cut.ANYWHERE, bom=Take.LOST)
_NPM: Final = Dialect("npm-dotenv", quotes="\"'`", cut=Cut.ANYWHERE, colon=True)
_RUST: Final = Dialect(
    "uv",
    expansion=Expansion.NAMES,
    bom=Take.REFUSED,
    twice=Twice.FIRST,
    stray=Take.REFUSED,
    odd_names=Take.REFUSED,
    by_path=True,
)

_ALL: Final = (
    replace(_PYTHON, name="dotenv", expands_single=False, stray=Take.REFUSED, known=False),
    _VERBATIM,
    replace(_VERBATIM, name="podman", export=Take.KEPT, blanks=Take.LOST, bom=Take.LOST, stray=Take.LOST),
    replace(_VERBATIM, name="kubectl", twice=Twice.REFUSED, odd_names=Take.REFUSED),
    replace(_VERBATIM, name="kustomize", export=Take.KEPT, blanks=Take.LOST, twice=Twice.REFUSED),
    replace(_VERBATIM, name="github-env", export=Take.KEPT, blanks=Take.LOST, keeps_cr=True),
    Dialect(
        "compose",
        expansion=Expansion.NAMES,
        colon=True,
        stray=Take.REFUSED,
        odd_names=Take.LOST,
        file_wins=True,
        by_path=True,
    ),
    _SHELL,
    replace(_SHELL, name="fish", needs_export=True, odd_names=Take.REFUSED),
    Dialect(
        "direnv",
        cut=Cut.ANYWHERE,
        expansion=Expansion.SHELL,
        bom=Take.REFUSED,
        many_lines=False,
        colon=True,
        stray=Take.REFUSED,
        odd_names=Take.REFUSED,
        file_wins=True,
    ),
    Dialect(
        "systemd",
        cut=Cut.NEVER,
        export=Take.LOST,
        bom=Take.LOST,
        file_wins=True,
        by_path=True,
    ),
    Dialect(
        "make",
        quotes="",
        cut=Cut.ANYWHERE,
        keeps_edges=True,
        expansion=Expansion.NAMES,
        many_lines=False,
        stray=Take.REFUSED,
        odd_names=Take.LOST,
        file_wins=True,
        by_path=True,
    ),
    _PYTHON,
    replace(_PYTHON, name="environs"),
    replace(_PYTHON, name="pydantic-settings", odd_names=Take.LOST),
    replace(_PYTHON, name="dynaconf", bom=Take.LOST, odd_names=Take.LOST),
    replace(_SPLITTER, name="django-environ", export=Take.READ, blanks=Take.LOST, keeps_edges=True),
    _SPLITTER,
    replace(_SPLITTER, name="starlette"),
    replace(_SPLITTER, name="honcho", cut=Cut.ANYWHERE, file_wins=True),
    replace(_SPLITTER, name="foreman", blanks=Take.LOST, keeps_edges=True, file_wins=True),
    replace(_SPLITTER, name="vscode-python", expansion=Expansion.BRACES, bom=Take.READ),
    _NODE,
    _NPM,
    replace(_NPM, name="dotenv-expand", expansion=Expansion.NAMES),
    replace(_NPM, name="next", expansion=Expansion.NAMES),
    replace(_NPM, name="vite", expansion=Expansion.NAMES, colon=False, bom=Take.LOST),
    replace(_NPM, name="bun", expansion=Expansion.NAMES),
    replace(_NPM, name="dotenvx", expansion=Expansion.SHELL, colon=False),
    replace(_NODE, name="deno", expansion=Expansion.NAMES, twice=Twice.FIRST),
    _RUST,
    replace(_RUST, name="just"),
    Dialect("ruby", cut=Cut.ANYWHERE, expansion=Expansion.SHELL, many_lines=False, colon=True),
)
DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in _ALL}

PLACES: Final[Mapping[str, bool]] = {"container": True, "kubernetes": True, "host": False}

# Other words for the same readers, in the order in which a phrase is searched for them.
ALIASES: Final[Mapping[str, str]] = {
    "node --env-file": "node",
    "uv run": "uv",
    "docker compose": "compose",
    "docker-compose": "compose",
    "compose": "compose",
    "docker": "docker",
    "kubernetes secret": "kubectl",
    "$github_env": "github-env",
    "github actions": "github-env",
    "bash": "shell",
    "zsh": "shell",
    "dash": "shell",
    "source .env": "shell",
    "sh": "shell",
    "load_dotenv": "python-dotenv",
    "pydantic": "pydantic-settings",
    "python-decouple": "decouple",
    "next.js": "next",
    "nextjs": "next",
    "vscode": "vscode-python",
    "environmentfile": "systemd",
    "npm dotenv": "npm-dotenv",
    "openai-python": "openai",
    "openai sdk": "openai",
    "openai client": "openai",
    "litellm proxy": "litellm-proxy",
    "langchain-openai": "langchain",
    "chatopenai": "langchain",
    "langchain-ollama": "ollama",
    "chatollama": "ollama",
    "ollama client": "ollama",
    "azure": "azure",
    "claude code": "claude-code",
    "anthropic sdk": "anthropic",
    "chatgpt-next-web": "nextchat",
    "one api": "one-api",
    "llamaindex": "llama-index",
    "agent lightning": "agent-lightning",
    "agentlightning": "agent-lightning",
    "k8s": "kubernetes",
    "pod": "kubernetes",
    "bridge network": "container",
    "bridge-network": "container",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """Who reads a file. `client` is None and `container` is None where nobody knows."""

    dialect: Dialect = DIALECTS["dotenv"]
    client: Client | None = None
    container: bool | None = None


def names() -> tuple[str, ...]:
    """Return all names that a reader may be given by, sorted."""
    return tuple(sorted({*DIALECTS, *CLIENTS, *PLACES} - {"dotenv"}))
