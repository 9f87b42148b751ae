"""From bytes to a sheet: text, format, purpose, readers."""

from __future__ import annotations

import re
from typing import Final

from checks.lint.parse.assignments import parse_assignments
from checks.lint.parse.comments import comments_of, noted_in
from checks.lint.parse.json_file import parse_json
from checks.lint.parse.toml_file import parse_toml
from checks.lint.parse.yaml_file import parse_yaml
from checks.lint.readers import Reading
from checks.lint.reading import combined, guessed
from checks.lint.sheet import Contents, Format, Kind, Sheet

_BY_SUFFIX: Final = {
    ".toml": Format.TOML,
    ".yaml": Format.YAML,
    ".yml": Format.YAML,
    ".json": Format.JSON,
    ".jsonc": Format.JSON,
    ".json5": Format.JSON,
    ".sh": Format.SHELL,
    ".bash": Format.SHELL,
    ".zsh": Format.SHELL,
    ".envrc": Format.SHELL,
    ".fish": Format.FISH,
    ".env": Format.DOTENV,
}
_SHELL_NAMES: Final = frozenset(
    (".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile", ".zshenv", ".bash_login", "profile")
)
_ENV_NAME: Final = re.compile(r"(?:^|[._-])(?:env|environment|dotenv)(?:$|[._-])")
_SNIFF: Final = 4_000
_TOML_HEADER: Final = re.compile(r"^\s*\[{1,2}[A-Za-z0-9_.\"' -]+\]{1,2}\s*(?:#.*)?$", re.MULTILINE)
_YAML_LINE: Final = re.compile(r"^(?:- )?[A-Za-z_][\w.-]*:(?:\s|$)", re.MULTILINE)
_ENV_LINE: Final = re.compile(r"^(?:export\s+)?[A-Za-z_]\w*=", re.MULTILINE)
_TOML_LINE: Final = re.compile(r"^[A-Za-z_][\w.-]*\s+=\s", re.MULTILINE)


def decoded(data: bytes) -> str:
    """Return the text without its byte order mark; bytes that are not UTF-8 become U+FFFD."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return data[2:].decode(encoding, "replace")
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def read_sheet(data: bytes, name: str, told: Reading | None) -> Sheet:
    """Read a file for the rules. Never raises; what could not be read is among the faults."""
    text = decoded(data)
    form = format_of(name, text)
    # A lone carriage return ends no line here: most readers lose what follows it, and a rule says so.
    lines = tuple(text.replace("\r\n", "\n").split("\n"))
    contents = _contents(text, lines, name, form)
    comments = comments_of(lines, form)
    kind = _kind(name, form, contents)
    return Sheet(
        name=name,
        data=data,
        text=text,
        lines=lines,
        format=form,
        kind=kind,
        reading=combined(told, guessed(name, form, kind, comments), form),
        contents=contents,
        noted=tuple(noted_in(comments, form)),
        comments=comments,
    )


def is_profile(name: str) -> bool:
    """Whether a file is a shell's own, which every program started there inherits from."""
    return name.replace("\\", "/").rpartition("/")[2].lower() in _SHELL_NAMES


def format_of(name: str, text: str) -> Format:
    """Tell the format by the name, else by the first lines."""
    base = name.replace("\\", "/").rpartition("/")[2].lower()
    if is_profile(name):
        return Format.SHELL
    plain = re.sub(r"[.-](?:example|sample|template|dist|bak|orig|local)$", "", base)
    suffix = "." + plain.rpartition(".")[2] if "." in plain else ""
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    return Format.DOTENV if _ENV_NAME.search(plain) else _sniffed(text[:_SNIFF])


def _sniffed(text: str) -> Format:
    start = text.lstrip()
    if start.startswith("#!"):
        return Format.FISH if "fish" in start.split("\n", 1)[0] else Format.SHELL
    if start.startswith("{"):
        return Format.JSON
    if _ENV_LINE.search(text):
        return Format.DOTENV
    if _TOML_HEADER.search(text) or _TOML_LINE.search(text):
        return Format.TOML
    return Format.YAML if _YAML_LINE.search(text) else Format.DOTENV


def _contents(text: str, lines: tuple[str, ...], name: str, form: Format) -> Contents:
    if form.by_lines:
        return parse_assignments(lines, form)
    if form is Format.TOML:
        return parse_toml(text.replace("\r\n", "\n"))
    if form is Format.JSON:
        with_comments = name.lower().endswith((".jsonc", ".json5")) or ".vscode/" in name
        return parse_json(text, with_comments=with_comments)
    return parse_yaml(text)


def _kind(name: str, form: Format, contents: Contents) -> Kind:
    tops = {path[0] for path in contents.maps if path} | {
        item.path[0] for item in contents.items if item.path
    }
    if form is Format.YAML and "model_list" in tops:
        return Kind.LITELLM
    if form is Format.YAML and "services" in tops:
        return Kind.COMPOSE
    if form is Format.JSON and (
        "settings" in name.lower() or any(item.name.startswith("ANTHROPIC_") for item in contents.items)
    ):
        return Kind.CLAUDE if ("env",) in contents.maps else Kind.PLAIN
    if form is Format.TOML and ({"model_providers", "model_provider"} & tops):
        return Kind.CODEX
    return Kind.PLAIN
