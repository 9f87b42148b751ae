"""The words of a comparison: which hops differ between places, and what follows from it."""

from __future__ import annotations

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext_lazy

from panel.history import Comparison, PlaceView
from panel.templatetags import words
from panel.templatetags.display import place_name

register = template.Library()

HOPS: dict[str, Promise] = {
    "addresses": pgettext_lazy("hop", "name lookup"),
    "proxy": pgettext_lazy("hop", "proxy"),
    "peer": pgettext_lazy("hop", "address"),
    "certificate": pgettext_lazy("hop", "certificate"),
    "issuer": pgettext_lazy("hop", "issuer"),
    "tls_version": pgettext_lazy("hop", "TLS version"),
    "http_status": pgettext_lazy("hop", "HTTP status"),
    "dns": pgettext_lazy("hop", "time of the name lookup"),
    "connect": pgettext_lazy("hop", "time to connect"),
    "tls": pgettext_lazy("hop", "time of the TLS handshake"),
    "wait": pgettext_lazy("hop", "time to the first byte"),
    "transfer": pgettext_lazy("hop", "time of the transfer"),
}
FOLLOWS = ("http_status", "status", "reason")  # what differs since something before it does
PASSED = ("ok", "degraded")


@register.filter
def hop_name(name: str) -> str:
    """Return the word for one hop of the way."""
    return str(HOPS.get(name, name))


@register.filter
def places_sentence(view: Comparison) -> str:
    """Say from where a lane works and from where not, and what differs on the way."""
    if len(view.places) < 2:
        return gettext("One place alone has climbed this lane")
    good = [place for place in view.places if place.status in PASSED]
    bad = [place for place in view.places if place.status not in PASSED]
    differing = [hop_name(hop.name) for hop in view.hops if hop.differs and hop.name not in FOLLOWS]
    hops, n = words.listed(differing), len(differing)
    if good and bad:
        return _split(_named(good), _named(bad), hops, n)
    if bad:
        return _all_bad(hops, n)
    if not n:
        return gettext("Works the same from every place")
    sentence = ngettext(
        "Works from every place, though the %(hops)s differs",
        "Works from every place, though %(hops)s differ",
        n,
    )
    return sentence % {"hops": hops}


def _split(good: str, bad: str, hops: str, n: int) -> str:
    if not n:
        return gettext("Works from %(good)s, fails from %(bad)s") % {"good": good, "bad": bad}
    sentence = ngettext(
        "Works from %(good)s, fails from %(bad)s: the %(hops)s differs",
        "Works from %(good)s, fails from %(bad)s: %(hops)s differ",
        n,
    )
    return sentence % {"good": good, "bad": bad, "hops": hops}


def _all_bad(hops: str, n: int) -> str:
    if not n:
        return gettext("Fails from every place alike: the place is not the cause")
    sentence = ngettext(
        "Fails from every place, and the %(hops)s differs",
        "Fails from every place, and %(hops)s differ",
        n,
    )
    return sentence % {"hops": hops}


def _named(places: list[PlaceView]) -> str:
    return words.listed([place_name(place.name) for place in places])
