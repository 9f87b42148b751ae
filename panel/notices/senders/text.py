"""A message as text, as Markdown, and cut to what a product takes."""

from __future__ import annotations

import json
from typing import Any, Final

from panel.notices.message import Message, Part

JSON: Final = {"content-type": "application/json; charset=utf-8"}
MORE: Final = "…"
# What marks up, links or calls people in any of these products, as the full-width sign that does not: an
# escape would be shown by some of them.
_MARKS: Final = str.maketrans("<>[]*`|", "＜＞［］＊｀｜")
COLOURS: Final = {"down": "red", "degraded": "orange", "unknown": "grey", "ok": "green"}


def as_json(document: Any) -> bytes:
    """Return the bytes of a JSON body."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def plain(message: Message) -> str:
    """Return the whole message as text without its title."""
    if message.text:
        return message.text
    blocks = ["\n".join(_lines(part)) for part in message.parts]
    if message.link:
        blocks.append(f"{message.link_label}\n{message.link}" if message.link_label else message.link)
    return "\n\n".join(block for block in blocks if block)


def markdown(message: Message, most: int, head: str) -> str:
    """Return the message as Markdown below its head, in at most so many bytes; the link is never cut.
    Team words lose their power to mark up."""
    if message.markdown:
        return cut_bytes(message.markdown, most)
    link = f"\n\n[{unmarked(message.link_label or message.link)}]({message.link})" if message.link else ""
    blocks = [head, *(_markdown_of(part) for part in message.parts)]
    text = "\n\n".join(block for block in blocks if block)
    return cut_bytes(text, most - len(link.encode())) + link


def unmarked(text: str) -> str:
    """Return text in which no character marks anything up."""
    return text.translate(_MARKS)


def cut(text: str, most: int) -> str:
    """Return at most so many characters, with a sign where something is left out."""
    return text if len(text) <= most else text[: most - len(MORE)] + MORE


def cut_bytes(text: str, most: int) -> str:
    """Return at most so many bytes of UTF-8, never half a character."""
    raw = text.encode()
    if len(raw) <= most:
        return text
    return raw[: most - len(MORE.encode())].decode("utf-8", "ignore") + MORE


def _lines(part: Part) -> list[str]:
    head = [line for line in (part.label, part.text) if line]
    return head + [f"- {item}" for item in part.items]


def _markdown_of(part: Part) -> str:
    label = f"**{unmarked(part.label)}**" if part.label else ""
    head = [line for line in (label, unmarked(part.text)) if line]
    listed = "\n".join(f"- {unmarked(item)}" for item in part.items)
    return "\n\n".join(block for block in ("\n\n".join(head), listed) if block)
