"""Comments: what people noted beside their settings, often the only word on the reader or the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from checks.lint.roles import role_of
from checks.lint.sheet import Format, Item, Role

MAX_COMMENTS: Final = 1_000
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_COMMENT: Final = re.compile(r"(?:^|\s)#(.*)$")
_NOTED: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)=(\S*)\s*")


def comments_of(lines: Sequence[str], form: Format) -> dict[int, str]:
    """Return the text of each comment by its line; none for JSON."""
    found: dict[int, str] = {}
    if form is Format.JSON:
        return found
    for number, line in enumerate(lines, 1):
        if "#" not in line or len(found) >= MAX_COMMENTS:
            continue
        match = _COMMENT.search(_QUOTED.sub("", line[:2_000]))
        if match:
            found[number] = match[1].strip()
    return found


def noted_in(comments: Mapping[int, str], form: Format) -> Iterator[Item]:
    """Yield proxy variables noted in a document's comments. In a file of assignments a comment is a
    setting switched off, and none is yielded."""
    if form.by_lines:
        return
    for line, text in comments.items():
        match = _NOTED.fullmatch(text)
        role = role_of(match[1]) if match else Role.OTHER
        if match and role in (Role.PROXY, Role.NO_PROXY):
            yield Item(match[1], match[1], match[2], line, role, line)
