"""Files whose lines are assignments: `.env`, shell and fish."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from checks.lint.roles import role_of
from checks.lint.sheet import Contents, Fault, Format, Item, Stray, Written

MAX_ITEMS: Final = 1_000
MAX_VALUE_LINES: Final = 400
MAX_LINE: Final = 60_000
"""Characters of a line; longer ones stop some readers and are lost in others."""

_ASSIGNMENT: Final = re.compile(
    r"\s*(?P<export>export[ \t]+)?(?P<name>[^\s=:#'\"`({\[]+)(?P<before>[ \t]*)"
    r"(?P<sign>=|:(?=[ \t]|$))(?P<after>[ \t]*)(?P<raw>.*)",
    re.DOTALL,
)
_FISH: Final = re.compile(r"\s*set\s+(?P<flags>(?:-\S+\s+)*)(?P<name>[A-Za-z_]\w*)\s+(?P<raw>.*)", re.DOTALL)
# Inside an open quote, a line that plainly begins another assignment shows that the quote was forgotten.
_NEXT_ASSIGNMENT: Final = re.compile(r"\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_]*=(?!=*\s*$)")
_IN_SHELL: Final = re.compile(
    r"(?:^|(?<=[\s;&|(]))(?P<name>[A-Za-z_]\w*)="
    r"(?P<raw>(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|[^\s;&|'\"\\])*)"
)
_SHELL_PLAIN: Final = re.compile(
    r"\s*(?:(?:export|declare -x|typeset -x|readonly|local)\s+)?[A-Za-z_]\w*\s*="
)


@dataclass(frozen=True, slots=True)
class _Value:
    value: str
    quote: str
    tail: str
    last: int  # index of its last line
    closed: bool


def parse_assignments(lines: Sequence[str], form: Format) -> Contents:
    """Read each line; in a shell's file commands are passed over, elsewhere they are strays."""
    items: list[Item] = []
    strays: list[Stray] = []
    faults: list[Fault] = []
    index = 0
    while index < len(lines):
        text = lines[index]
        if len(text) > MAX_LINE:
            faults.append(Fault("line_too_long", index + 1, text[:40].partition("=")[0].strip()))
            index += 1
            continue
        if len(items) + len(strays) >= MAX_ITEMS:
            faults.append(Fault("document_too_deep", index + 1))
            break
        if not text.strip() or text.lstrip().startswith("#"):
            index += 1
            continue
        found = _read_line(lines, index, form)
        items += found.items
        if not found.items and form is Format.DOTENV:
            strays.append(Stray(text.strip(), index + 1))
        index = found.last + 1
    return Contents(tuple(items), tuple(strays), tuple(faults))


@dataclass(frozen=True, slots=True)
class _Read:
    items: tuple[Item, ...]
    last: int


def _read_line(lines: Sequence[str], index: int, form: Format) -> _Read:
    if form is Format.FISH:
        fish = _FISH.fullmatch(lines[index])
        if fish:
            return _fish_item(fish, index)
    if form is Format.SHELL and not _SHELL_PLAIN.match(lines[index]):
        return _Read(tuple(_inside(lines[index], index)), index)
    match = _ASSIGNMENT.fullmatch(lines[index])
    if not match or (form is not Format.DOTENV and match["sign"] == ":"):
        return _Read((), index)
    value = _value(lines, index, match["raw"])
    item = _item(match, value, index)
    more = tuple(_further(match["raw"], index)) if form is Format.SHELL and value.last == index else ()
    return _Read((item, *more), value.last)


def _item(match: re.Match[str], value: _Value, index: int) -> Item:
    name = match["name"]
    written = Written(
        raw=match["raw"],
        quote=value.quote,
        tail=value.tail,
        sign=match["sign"],
        exported=bool(match["export"]),
        blank_before=bool(match["before"]),
        blank_after=bool(match["after"]) and bool(match["raw"].strip()),
        closed=value.closed,
    )
    return Item(
        name=name,
        key=name,
        value=value.value,
        line=index + 1,
        role=role_of(name),
        end=value.last + 1,
        quoted=bool(value.quote),
        written=written,
    )


def _value(lines: Sequence[str], index: int, raw: str) -> _Value:
    quote = raw[:1]
    if quote not in ("'", '"', "`"):
        return _Value(_uncommented(raw), "", "", index, True)
    text, last = raw, index
    end = _closing(text, quote)
    while end is None and last + 1 < len(lines) and last - index < MAX_VALUE_LINES:
        if _NEXT_ASSIGNMENT.match(lines[last + 1]):
            break
        last += 1
        following = _closing(quote + lines[last], quote)
        text, end = text + "\n" + lines[last], None if following is None else len(text) + following
    if end is None:
        return _Value(raw[1:], quote, "", index, False)
    return _Value(text[1:end], quote, text[end + 1 :].strip(), last, True)


def _closing(text: str, quote: str) -> int | None:
    """Find the quote that closes the one at the start; a backslash guards it, but not in single quotes."""
    position = 1
    while position < len(text):
        if text[position] == "\\" and quote != "'":
            position += 1
        elif text[position] == quote:
            return position
        position += 1
    return None


def _uncommented(raw: str) -> str:
    cut = re.search(r"(?:^|[ \t])#", raw)
    return (raw[: cut.start()] if cut else raw).strip()


def _fish_item(match: re.Match[str], index: int) -> _Read:
    raw = match["raw"].strip()
    quote = raw[0] if len(raw) > 1 and raw[0] in "'\"" and raw[-1] == raw[0] else ""
    exported = any(
        "x" in flag for flag in match["flags"].split() if flag.startswith("-") and not flag.startswith("--")
    )
    written = Written(raw, quote, exported=exported or "--export" in match["flags"])
    name, value = match["name"], raw[1:-1] if quote else _uncommented(raw)
    item = Item(name, name, value, index + 1, role_of(name), index + 1, quoted=bool(quote), written=written)
    return _Read((item,), index)


def _further(raw: str, index: int) -> Iterator[Item]:
    """Yield the assignments that follow the first one on a shell's line: `export A=1 B=2`."""
    first = _IN_SHELL.match("X=" + raw)
    rest = raw[first.end() - 2 :] if first else ""
    return _inside(rest, index) if "=" in rest else iter(())


def _inside(text: str, index: int) -> Iterator[Item]:
    """Yield the assignments on a line that begins with a command."""
    if text.lstrip().startswith("#"):
        return
    exported = bool(re.match(r"\s*(?:export|env|declare -x)\s", text))
    for match in _IN_SHELL.finditer(text):
        raw, name = match["raw"], match["name"]
        if not role_of(name) or not raw:
            continue
        quote = raw[0] if len(raw) > 1 and raw[0] in "'\"" and raw[-1] == raw[0] else ""
        value = raw[1:-1] if quote else raw
        written = Written(raw, quote, exported=exported or not text.strip().startswith(name + "="))
        yield Item(
            name, name, value, index + 1, role_of(name), index + 1, quoted=bool(quote), written=written
        )
