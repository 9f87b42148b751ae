"""Pages as a person opens them: a theme, a language, a width, and a session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.test import Client

from panel.models import Membership

ZH = "zh-CN"
EN = "en-GB"


@dataclass(frozen=True)
class Look:
    """How a page is looked at."""

    width: int = 1360
    theme: str = "light"
    language: str = EN
    scripts: bool = True

    def __str__(self) -> str:
        return f"{self.width}-{self.theme}-{self.language[:2]}{'' if self.scripts else '-no-js'}"


class Complaints(list[str]):
    """What the console said against a page: refusals of the policy, errors of scripts."""


@contextmanager
def visit(
    browser: Any, server: str, look: Look, member: Membership | None = None
) -> Iterator[tuple[Any, Complaints]]:
    """Open a tab, signed in as the member when one is given; close it after."""
    context = browser.new_context(
        viewport={"width": look.width, "height": 900},
        color_scheme=look.theme,
        locale=look.language,
        java_script_enabled=look.scripts,
        reduced_motion="reduce",
        base_url=server,
    )
    if member is not None:
        client = Client()
        client.force_login(member.user)
        session = client.cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": session, "url": server}])
    page, complaints = context.new_page(), Complaints()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        yield page, complaints
    finally:
        context.close()


def too_wide(page: Any) -> int:
    """Return by how many pixels a page scrolls sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
