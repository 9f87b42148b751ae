"""How a bundle's text is coloured, and what is said of its problems."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from panel.templatetags.words import lane_name

PROBLEMS: dict[str, Promise] = {
    "loopback_address": _("The address is this machine's own: the file works nowhere else."),
    "empty_model": _("No model is named, so the file leaves it out."),
    "lane_without_key": _("The endpoint needs a key and has none."),
    "lane_not_proven": _("The newest run of this lane did not pass."),
    "hosted_rollout": _(
        "A hosted service takes no new weights and returns no token ids: the trainer drops every sample."
    ),
    "gateway_passes_no_key": _("The 1.x gateway passes no key on, and this endpoint asks for one."),
    "upstream_without_version": _(
        "The 1.x gateway appends to the base URL as it stands, and it ends in no version segment."
    ),
    "past_the_gateway": _("The agent calls past the 1.x gateway, so nothing is recorded of it."),
    "same_host_different_keys": _("Another lane calls the same host with another key."),
    "mixed_ids": _("Another lane spells the same model differently on this host."),
    "gateway_open": _(
        "The gateway has no key and listens beyond its own machine: whoever reaches it may use it."
    ),
    "model_names_unequal": _(
        "The gateway and the trainer name the model differently; both names must be the same string."
    ),
}
_ASSIGNMENT = re.compile(r"(?P<before>(?:export\s+)?)(?P<name>[A-Za-z_]\w*)(?P<sign>\s*=\s*)(?P<value>.*)")
_MASK = "\u00b7" * 4


class Problem(Protocol):
    """What is wrong with a lane, by its code."""

    @property
    def code(self) -> str: ...

    @property
    def lane(self) -> str: ...


def problem_sentence(code: str) -> str:
    """Say one problem of a bundle; a code without a sentence reads as itself."""
    return str(PROBLEMS.get(code, code))


def by_problem(problems: Iterable[Problem], generation: str) -> list[tuple[str, list[str]]]:
    """Return each code once, with the names of its lanes: a conflict of two lanes is one thing to mend."""
    lanes: dict[str, list[str]] = {}
    for problem in problems:
        lanes.setdefault(problem.code, []).append(lane_name(problem.lane, generation))
    return list(lanes.items())


def coloured(text: str) -> SafeString:
    """Return a bundle's text with comments, names and masked values set apart; every byte stays."""
    return format_html_join("\n", "{}", ((_line(line),) for line in text.split("\n")))


def _line(line: str) -> SafeString:
    if line.lstrip().startswith(("#", "[")):
        return format_html('<span class="c-c">{}</span>', line)
    found = _ASSIGNMENT.fullmatch(line)
    if not found:
        return format_html("{}", line)
    value = found["value"]
    shown = format_html('<span class="c-m">{}</span>', value) if _MASK in value or "${" in value else value
    return format_html(
        '{}<span class="c-k">{}</span>{}{}', found["before"], found["name"], found["sign"], shown
    )
