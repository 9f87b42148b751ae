"""Documents, as their parsers tell of them piece by piece: the tree flattened into settings with lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from checks.lint.roles import role_of
from checks.lint.sheet import Contents, Fault, Item, Path, Role, Scalar

MAX_ITEMS: Final = 4_000
MAX_DEPTH: Final = 64


class TooMuch(ValueError):
    """The document is deeper or longer than any configuration file."""

    def __init__(self, line: int) -> None:
        super().__init__("The document is too deep or too long.")
        self.line = line


@dataclass(slots=True)
class _Frame:
    path: Path
    is_map: bool
    name: str = ""  # the key whose value is due; empty while a key is due
    line: int = 0
    index: int = 0
    seen: dict[str, int] = field(default_factory=dict)


class Collector:
    """Takes a document's pieces in their order and keeps its settings; iterative, so depth costs no stack."""

    def __init__(self) -> None:
        self._frames: list[_Frame] = []
        self._items: list[Item] = []
        self._faults: list[Fault] = []
        self._maps: dict[Path, int] = {}

    def open(self, *, is_map: bool, line: int) -> None:
        """Begin a mapping or a list."""
        path = self._place(line)
        if len(self._frames) >= MAX_DEPTH or len(self._maps) >= MAX_ITEMS:
            raise TooMuch(line)
        self._frames.append(_Frame(path, is_map))
        if is_map:
            self._maps[path] = line

    def close(self) -> None:
        """End the mapping or list that was begun last."""
        if self._frames:
            self._frames.pop()
            self._done()

    def scalar(
        self, value: str, line: int, *, end: int = 0, scalar: Scalar = Scalar.TEXT, quoted: bool
    ) -> None:
        """Take a key or a value, whichever is due."""
        if len(self._items) >= MAX_ITEMS:
            raise TooMuch(line)
        frame = self._frames[-1] if self._frames else None
        if frame and frame.is_map and not frame.name:
            self._key(frame, value or "''", line)
            return
        path = self._place(line)
        key_line = frame.line if frame and frame.is_map and scalar is not Scalar.TEXT else line
        self._keep(path, value, min(key_line, line) or line, end or line, scalar, quoted)
        self._done()

    def alias(self, line: int) -> None:
        """Take a reference to another node, of which nothing is kept."""
        if self._frames and self._frames[-1].is_map and not self._frames[-1].name:
            self._key(self._frames[-1], "*", line)
        else:
            self._done()

    def contents(self) -> Contents:
        """Return all that was taken."""
        return Contents(tuple(self._items), (), tuple(self._faults), self._maps)

    def _key(self, frame: _Frame, name: str, line: int) -> None:
        if name in frame.seen and name != "<<":
            shown = shown_key((*frame.path, name))
            self._faults.append(Fault("document_key_twice", line, shown, {"first": str(frame.seen[name])}))
        frame.seen.setdefault(name, line)
        frame.name, frame.line = name, line

    def _place(self, line: int) -> Path:
        if not self._frames:
            return ()
        frame = self._frames[-1]
        return (*frame.path, frame.name if frame.is_map else frame.index)

    def _done(self) -> None:
        if self._frames:
            frame = self._frames[-1]
            frame.name = ""
            frame.index += 1

    def _keep(self, path: Path, value: str, line: int, end: int, scalar: Scalar, quoted: bool) -> None:
        parent = path[:-1]
        name = str(path[-1]) if path and isinstance(path[-1], str) else ""
        listed = not name and len(parent) > 0 and parent[-1] in ("environment", "env")
        if listed and "=" in value:
            name, _, value = value.partition("=")
            self._items.append(
                Item(
                    name.strip(),
                    name.strip(),
                    value,
                    line,
                    role_of(name),
                    end,
                    path,
                    str(parent),
                    quoted=quoted,
                )
            )
            return
        role = role_of(name) if name else Role.OTHER
        self._items.append(
            Item(name, shown_key(path), value, line, role, end, path, str(parent), scalar, quoted)
        )


def shown_key(path: Path) -> str:
    """Return the dotted path since the last list; the bare name in a compose environment or beneath the
    one mapping that every model of a litellm list has."""
    parts: list[str] = []
    for part in path:
        if isinstance(part, int):
            parts.clear()
        else:
            parts.append(part)
    if "services" in parts[:1] and "environment" in parts[:-1]:
        parts = parts[parts.index("environment") + 1 :]
    if parts[:1] == ["litellm_params"] and len(parts) > 1:
        parts = parts[1:]
    return ".".join(parts)[:200]
