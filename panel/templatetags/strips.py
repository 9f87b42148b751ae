"""Turns a strip of the past into bars, a sentence and the labels below it."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import groupby

from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from panel.history import Strip
from panel.templatetags import clock, words
from panel.templatetags.drawing import Spell

SPELLS_SAID = 4


def strip_spells(strip: Strip) -> list[Spell]:
    """Return what to draw: nothing before the first evidence, unknown in a gap after it."""
    return [
        Spell(state, first, last, "" if state == "ok" else _spell_words(strip, state, first, last))
        for state, first, last in _spells(strip)
        if state
    ]


def strip_sentence(strip: Strip) -> str:
    """Say a strip in words: what was not OK, and when; the oldest spells of many are only counted."""
    if strip.first is None:
        return gettext("no evidence yet")
    spells = [spell for spell in _spells(strip) if spell[0] not in ("", "ok")]
    if not spells:
        return gettext("OK throughout")
    said = [_spell_words(strip, *spell) for spell in spells[-SPELLS_SAID:]]
    hidden = len(spells) - len(said)
    if hidden:
        said.insert(0, ngettext("%(n)d earlier spell", "%(n)d earlier spells", hidden) % {"n": hidden})
    return words.listed(said)


def axis_labels(start: datetime, end: datetime) -> list[str]:
    """Return five labels under a range, the last of which is "now"."""
    quarter = (end - start) / 4
    long = end - start > timedelta(days=2)
    labels = [_label(start + quarter * n, long) for n in range(4)]
    if not long:
        labels[0] = gettext("%(day)s, %(time)s") % {"day": clock.day(start), "time": labels[0]}
    return [*labels, gettext("now")]


def _label(moment: datetime, long: bool) -> str:
    return clock.day(moment) if long else timezone.localtime(moment).strftime("%H:%M")


def _known(strip: Strip, n: int, raw: str) -> str:
    if raw:
        return raw
    return "" if strip.first is None or n < strip.first else "unknown"


def _spells(strip: Strip) -> list[tuple[str, int, int]]:
    numbered = [(_known(strip, n, raw), n) for n, raw in enumerate(strip.states)]
    spells = []
    for name, group in groupby(numbered, key=lambda pair: pair[0]):
        places = [n for _, n in group]
        spells.append((name, places[0], places[-1]))
    return spells


def _spell_words(strip: Strip, state: str, first: int, last: int) -> str:
    start = _moment(strip, first)
    if last == len(strip.states) - 1:
        sentence = gettext_lazy("%(state)s since %(start)s")
    else:
        sentence = gettext_lazy("%(state)s from %(start)s to %(end)s")
    return str(sentence) % {
        "state": words.state_word(state), "start": start, "end": _moment(strip, last + 1),
    }  # fmt: skip


def _moment(strip: Strip, n: int) -> str:
    moment = timezone.localtime(strip.start + strip.bar * n)
    if strip.bar >= timedelta(days=1):
        return clock.day(moment)
    if len(strip.states) * strip.bar > timedelta(days=1, hours=1):
        return gettext("%(day)s, %(time)s") % {"day": clock.day(moment), "time": f"{moment:%H:%M}"}
    return f"{moment:%H:%M}"
