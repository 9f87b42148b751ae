"""What a process keeps of what it drew: the same values in the same language and zone look the same.

Nothing that depends on who looks may be drawn through here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import datetime
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = template.Library()

Args = ParamSpec("Args")
Drawn = TypeVar("Drawn")
KEPT = 4096


def reader() -> tuple[str, str]:
    """Return what else a drawing depends on: the language and the zone of who reads it."""
    return get_language() or "", timezone.get_current_timezone_name()


def kept(draw: Callable[Args, Drawn]) -> Callable[Args, Drawn]:
    """Keep what a pure drawing returned for each of its (hashable) arguments, language and zone."""

    @lru_cache(maxsize=KEPT)
    def remembered(_reader: tuple[str, str], *args: Any, **named: Any) -> Drawn:
        return draw(*args, **named)

    known: Callable[..., Drawn] = remembered

    @wraps(draw)
    def look(*args: Args.args, **named: Args.kwargs) -> Drawn:
        return known(reader(), *args, **named)

    return look


class KeptNode(template.Node):
    """A part of a template that is rendered once for each of the values it names."""

    def __init__(self, nodes: NodeList, values: list[FilterExpression]) -> None:
        self.nodes, self.values = nodes, values
        self.parts: dict[Hashable, SafeString] = {}

    def render(self, context: template.Context) -> SafeString:
        """Return the part as it was, or render it."""
        key = (reader(), *(value.resolve(context) for value in self.values))
        part = self.parts.get(key)
        if part is None:
            if len(self.parts) >= KEPT:
                self.parts.clear()
            part = self.parts[key] = self.nodes.render(context)
        return part


@register.tag("kept")
def kept_part(parser: Parser, token: Token) -> KeptNode:
    """{% kept value … %} … {% endkept %}: the part depends on these (hashable) values and on nothing else."""
    values = [parser.compile_filter(bit) for bit in token.split_contents()[1:]]
    nodes = parser.parse(("endkept",))
    parser.delete_first_token()
    return KeptNode(nodes, values)


@register.filter
def minute(now: datetime) -> int:
    """Return the minute, for parts that tell ages: they may lag by less than one."""
    return int(now.timestamp()) // 60


@register.filter
def day_key(now: datetime) -> str:
    """Return the reader's day, for parts that name times: today's look different."""
    return timezone.localtime(now).date().isoformat()
