"""Find out who reads a file: from what the caller said, else from the file's name, notes and structure."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from typing import Final

from checks.lint.clients import CLIENTS, IMAGES
from checks.lint.readers import ALIASES, DIALECTS, PLACES, Reading, names
from checks.lint.sheet import Format, Kind

_ADDS_VERSION: Final = re.compile(r"(?:append|add)\w*\s+\S*v\d")
_WORDS: Final = sorted(
    {**{name: name for name in names()}, **ALIASES}.items(), key=lambda pair: -len(pair[0])
)
_PATTERNS: Final = tuple(
    (re.compile(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])"), name) for word, name in _WORDS
)
_LONGEST: Final = 200
_HINT_LINES: Final = 40

# How people note in a comment or a file's name who will read the file; more telling ones first.
_HINTS: Final = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"node\b[^\n]{0,40}--env-file", "node"),
        (r"\b(?:uv|uvx) run\b", "uv"),
        (r"docker[ -]compose|\bcompose\b[^\n]{0,20}env_file", "compose"),
        (r"\bpodman\b", "podman"),
        (r"docker (?:run|create)\b|--env-file|\bdocker\b[^\n]{0,20}env", "docker"),
        (r"environmentfile|\bsystemd\b", "systemd"),
        (r"\bkubectl\b|--from-env-file", "kubectl"),
        (r"load_dotenv|python-dotenv", "python-dotenv"),
        (r"\bsource \S*env\b|\bset -a\b", "shell"),
        (r"\bdirenv\b", "direnv"),
    )
)
_NAME_HINTS: Final = (
    (re.compile(r"(?:^|[-_.])(?:docker|dockerenv)(?:[-_.]|$)"), "docker"),
    (re.compile(r"(?:^|[-_.])podman(?:[-_.]|$)"), "podman"),
    (re.compile(r"(?:^|[-_.])systemd(?:[-_.]|$)"), "systemd"),
    (re.compile(r"(?:^|[-_.])compose(?:[-_.]|$)"), "compose"),
    (re.compile(r"(?:^|[-_.])direnv(?:[-_.]|$)|\.envrc$"), "direnv"),
)

_CONTAINER_DIALECTS: Final = frozenset(("docker", "podman", "kubectl", "kustomize", "compose"))
_CONTAINER_TOLD: Final = re.compile(
    r"\b(?:in|inside|into|within|for) (?:a |the |its )?(?:[\w-]+ )?(?:docker|containers?|pods?|kubernetes)\b"
    r"|容器[里内中]|\bcontainerized\b|\bin docker\b"
)
_CONTAINER_NAME: Final = re.compile(r"(?:^|[-_.])(?:container|docker|k8s|kubernetes)(?:[-_.]|$)")


class UnknownReader(ValueError):
    """Nobody by this name reads files. `near` are names that are spelt alike."""

    def __init__(self, text: str) -> None:
        self.near = tuple(difflib.get_close_matches(text.lower()[:_LONGEST], names(), n=3))
        offers = (
            f"Did you mean {' or '.join(self.near)}?" if self.near else f"Known are {', '.join(names())}."
        )
        super().__init__(f"There is no reader {text[:60]!r}. {offers}")


def stated(text: str) -> Reading:
    """Return the readers that a text names: one name, several, or a phrase in which names stand, such as
    "litellm proxy in a container". Raises `UnknownReader` where none does."""
    phrase = text.strip().lower()[:_LONGEST]
    reading, found = Reading(), False
    if _ADDS_VERSION.search(phrase):
        reading, found = replace(reading, client=CLIENTS["appends-v1"]), True
    for pattern, name in _PATTERNS:
        match = pattern.search(phrase)
        if match:
            reading, found = _with(reading, name), True
            phrase = phrase[: match.start()] + " " * len(match[0]) + phrase[match.end() :]
    if not found:
        raise UnknownReader(text)
    if reading.dialect.name in _CONTAINER_DIALECTS and reading.container is None:
        reading = replace(reading, container=True)
    return reading


def _with(reading: Reading, name: str) -> Reading:
    """Add one reader; what a longer name said already is not changed."""
    if name in PLACES:
        return replace(reading, container=PLACES[name]) if reading.container is None else reading
    if name in DIALECTS:
        return reading if reading.dialect.known else replace(reading, dialect=DIALECTS[name])
    return reading if reading.client else replace(reading, client=CLIENTS[name])


def guessed(name: str, form: Format, kind: Kind, comments: dict[int, str]) -> Reading:
    """Tell from the file itself who reads it; a stand-in for nobody in particular where it does not say."""
    reading = Reading()
    if form is Format.SHELL:
        reading = replace(reading, dialect=DIALECTS["shell"])
    elif form is Format.FISH:
        reading = replace(reading, dialect=DIALECTS["fish"])
    elif form is Format.DOTENV:
        dialect = _hinted(name, comments)
        if dialect:
            reading = stated(dialect)
    if reading.container is None:
        reading = replace(reading, container=_in_container(name, comments))
    return _for_kind(reading, kind)


def _hinted(name: str, comments: dict[int, str]) -> str:
    told = "\n".join(text for line, text in comments.items() if line <= _HINT_LINES).lower()
    by_comment = next((reader for pattern, reader in _HINTS if pattern.search(told)), "")
    base = name.replace("\\", "/").rpartition("/")[2].lower()
    return by_comment or next((reader for pattern, reader in _NAME_HINTS if pattern.search(base)), "")


def _in_container(name: str, comments: dict[int, str]) -> bool | None:
    """Whether the file's name or notes say that its reader runs in a container; None where they do not."""
    told = "\n".join(comments.values()).lower()
    base = name.replace("\\", "/").rpartition("/")[2].lower()
    return True if _CONTAINER_TOLD.search(told) or _CONTAINER_NAME.search(base) else None


def _for_kind(reading: Reading, kind: Kind) -> Reading:
    if kind is Kind.LITELLM:
        return replace(reading, client=CLIENTS["litellm-proxy"])
    if kind is Kind.CLAUDE:
        return replace(reading, client=CLIENTS["claude-code"], container=False)
    if kind is Kind.CODEX:
        return replace(reading, client=CLIENTS["codex"], container=False)
    if kind is Kind.COMPOSE:
        return replace(reading, dialect=DIALECTS["compose"], container=True, client=None)
    return reading


def combined(told: Reading | None, guess: Reading, form: Format) -> Reading:
    """Return what the caller said, and for the rest what the file itself says.

    A shell's own file is read by that shell, whoever reads the environment files beside it.
    """
    if told is None:
        return guess
    own = form in (Format.SHELL, Format.FISH) or not told.dialect.known
    return Reading(
        dialect=guess.dialect if own else told.dialect,
        client=told.client or guess.client,
        container=guess.container if told.container is None else told.container,
    )


def client_of_image(image: str) -> str:
    """The client that a container image holds; empty where its name says nothing."""
    lowered = image.lower()[:_LONGEST]
    return next((client for word, client in IMAGES.items() if word in lowered), "")
