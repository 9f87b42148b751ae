"""How routes and notices are put on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import time
from typing import Protocol

from django import template
from django.utils.translation import gettext, ngettext

from panel import notices
from panel.templatetags.words import environment_name, listed, state_word

register = template.Library()


class Route(Protocol):
    """What is read of a route."""

    states: Sequence[str]
    environments: Sequence[str]
    after_min: int
    quiet_from: time | None
    quiet_to: time | None
    zone: str


class Failed(Protocol):
    """What is read of a notice or a channel whose last sending failed."""

    failure: str
    say: Mapping[str, str]


class Incident(Protocol):
    """What is read of an incident."""

    number: int


class Notice(Protocol):
    """What is read of a notice."""

    incident: Incident | None

    def get_kind_display(self) -> str:
        """Return the word for its kind."""


@register.filter
def route_line(route: Route) -> str:
    """Say which incidents a route takes."""
    states = listed([state_word(state) for state in route.states]) or gettext("any state")
    places = listed([environment_name(place) for place in route.environments]) or gettext("any environment")
    return gettext("%(states)s, %(places)s") % {"states": states, "places": places}


@register.filter
def route_when(route: Route) -> str:
    """Say when a route tells."""
    told = gettext("at once")
    if route.after_min:
        told = ngettext(
            "when nobody took it for %(n)d minute", "when nobody took it for %(n)d minutes", route.after_min
        ) % {"n": route.after_min}
    if route.quiet_from is None or route.quiet_to is None:
        return told
    return gettext("%(told)s; quiet from %(begins)s to %(ends)s, %(zone)s") % {
        "told": told,
        "begins": f"{route.quiet_from:%H:%M}",
        "ends": f"{route.quiet_to:%H:%M}",
        "zone": route.zone,
    }


@register.filter
def trouble(row: Failed) -> str:
    """Say why a notice, or the last one to a channel, was not sent; empty where it was."""
    return notices.sentence(row.failure, row.say)


@register.filter
def about(notice: Notice) -> str:
    """Say in short what a notice tells of."""
    kind = str(notice.get_kind_display())
    if notice.incident is None:
        return kind
    return gettext("%(kind)s, incident #%(number)d") % {"kind": kind, "number": notice.incident.number}
