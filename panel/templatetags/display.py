"""What templates call to show a value: words, times, numbers, drawings and the sentences of reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from django import template
from django.conf import settings
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from panel import dictionary
from panel.history import LaneNow, Overview, Point, RungView, RunView, Strip
from panel.templatetags import bundles, clock, drawing, sentences, words
from panel.templatetags.balances import balance_sentence
from panel.templatetags.changes import what_changed
from panel.templatetags.differences import differences
from panel.templatetags.kept import kept
from panel.templatetags.rungs import EMPTY_LADDER, rung_say
from panel.templatetags.step_words import asked_plainly, contract_of, step_name
from panel.templatetags.strips import axis_labels, strip_sentence, strip_spells
from panel.templatetags.upper_steps import leftover_said, places_worth_saying, step_details

register = template.Library()

register.filter("state_word", words.state_word)
register.filter("rung_name", words.rung_name)
register.filter("rung_label", words.rung_label)
register.filter("lane_name", words.lane_name)
register.filter("lane_heading", words.lane_heading)
register.filter("by_lane_name", words.by_lane_name)
register.filter("environment_name", words.environment_name)
register.filter("phase_name", words.phase_name)
register.filter("step_name", step_name)
register.filter("step_details", step_details)
register.filter("asked_plainly", asked_plainly)
register.filter("contract_of", contract_of)
register.filter("ms", clock.milliseconds)
register.filter("seconds", clock.seconds)
register.filter("percent", clock.percent)
register.filter("token_count", clock.tokens)
register.filter("span", clock.span)
register.filter("ahead", clock.ahead)
register.filter("failure_mark", sentences.failure_mark)
register.filter("headline", sentences.headline)
register.filter("noun_name", sentences.noun_name)
register.filter("deed_details", sentences.deed_details)
register.filter("balance_sentence", balance_sentence)
register.filter("what_changed", what_changed)
register.filter("coloured", bundles.coloured)
register.filter("problem_sentence", bundles.problem_sentence)
register.filter("by_problem", bundles.by_problem)
register.simple_tag(clock.when, name="when")
register.simple_tag(clock.at, name="at")
register.simple_tag(clock.precise, name="precise")
register.simple_tag(drawing.icon, name="icon")
register.simple_tag(axis_labels, name="axis_labels")
register.simple_tag(differences, name="differences")
register.simple_tag(rung_say, name="rung_say")
register.simple_tag(leftover_said, name="leftover_said")
register.simple_tag(sentences.stopped_at, name="stopped_at")

THEMES = ("light", "dark")


class Plot(NamedTuple):
    """A drawn chart and the labels of its five lines, uppermost first."""

    svg: SafeString
    labels: list[str]


@register.simple_tag
def html_lang() -> str:
    """Return the language of the page as HTML names it."""
    return "zh-Hans" if (get_language() or "en").startswith("zh") else "en"


@register.simple_tag(takes_context=True)
def theme(context: Mapping[str, object]) -> str:
    """Return the theme the reader chose, empty for the system's own."""
    request = context.get("request")
    chosen = request.COOKIES.get(settings.THEME_COOKIE_NAME, "") if isinstance(request, HttpRequest) else ""
    return chosen if chosen in THEMES else ""


@register.simple_tag
@kept
def state(name: str, word: str = "") -> SafeString:
    """Return a state's icon beside its word; another word may stand in its place."""
    spin = "spin" if name == "running" else ""
    return format_html(
        '<span class="state is-{}">{}<span>{}</span></span>',
        name,
        drawing.icon(f"s-{name}", spin),
        word or words.state_word(name),
    )


@register.simple_tag
def pips(lane: LaneNow) -> SafeString:
    """Return a lane's five pips, read out as one sentence."""
    return drawing.pips(lane.pips, sentences.pips_sentence(lane.pips))


@register.simple_tag
def bars(strip: Strip, lane: LaneNow, large: bool = False) -> SafeString:
    """Return a lane's past as bars, read out as one sentence."""
    paused = lane.state == "paused" and strip.first is None
    return _bars(strip, lane.profile_name, words.lane_name(lane.kind, lane.generation), paused, large)


@kept
def _bars(strip: Strip, profile: str, lane: str, paused: bool, large: bool) -> SafeString:
    drawn = [drawing.Spell("paused", 0, len(strip.states) - 1)] if paused else strip_spells(strip)
    said = {"profile": profile, "lane": lane, "past": strip_sentence(strip)}
    label = gettext("%(profile)s, %(lane)s: %(past)s") % said
    return drawing.bars(drawn, len(strip.states), label, large=large)


@register.simple_tag
def phases(parts: Sequence[tuple[str, float]]) -> SafeString:
    """Return where the time of one exchange went, drawn and in words."""
    known = [(name.removesuffix("_ms"), ms) for name, ms in parts if ms is not None]
    said = (f"{words.phase_name(name)} {clock.milliseconds(ms)}" for name, ms in known)
    return format_html(
        '<div class="phases">{}{}</div>',
        drawing.phase_bar([ms for _, ms in known]),
        format_html_join(" · ", "{}", ((one,) for one in said)),
    )


@register.simple_tag
@kept
def latency(points: tuple[Point, ...], limit_ms: int | None, lane: str) -> Plot:
    """Return the latency chart of the lane of this name with the labels of its lines."""
    highest = max((point.p95 or point.p50 or 0 for point in points), default=0)
    top = drawing.nice_top(highest, limit_ms)
    marks = [drawing.Mark(point.p50, point.p95, point.state) for point in points]
    seen = sorted(point.p50 for point in points if point.p50 is not None)
    middle = seen[len(seen) // 2] if seen else None
    label = gettext("Time to the full answer, %(lane)s: p50 about %(middle)s, highest p95 %(highest)s") % {
        "lane": lane,
        "middle": clock.milliseconds(middle),
        "highest": clock.milliseconds(highest or None),
    }
    return Plot(drawing.chart(marks, top, limit_ms, label), clock.scale(top))


@register.simple_tag
def entry(code: str, facts: Mapping[str, str] | None = None) -> dictionary.Entry:
    """Return the dictionary's sentences on a reason, in the reader's language."""
    return dictionary.entry(code, facts or {})


@register.simple_tag
def deed(event: object) -> str:
    """Say what one audit event records."""
    who = str(getattr(event, "actor", None) or "Preflight")
    return sentences.deed(
        str(getattr(event, "verb", "")),
        str(getattr(event, "noun", "")),
        who,
        str(getattr(event, "label", "")),
    )


@register.filter
def listed(items: Sequence[object]) -> str:
    """Join names as the language does."""
    return words.listed([str(item) for item in items])


@register.filter
def down_count(overview: Overview) -> int:
    """Return how many lanes are down."""
    return overview.counts["down"]


@register.filter
def since_span(value: datetime | None, now: datetime) -> str:
    """Return how long something has held at `now`."""
    return clock.span(now - value if value else None)


@register.filter
def zone_name(value: datetime) -> str:
    """Return the reader's zone with its offset: "Asia/Shanghai, UTC+8"."""
    return clock.zone(value)


@register.filter
def minutes(value: timedelta) -> int:
    """Return whole minutes."""
    return int(value.total_seconds() // 60)


@register.filter
def sheets(names: str) -> list[str]:
    """Return the style sheets of these parts."""
    return [f"panel/css/{name}.css" for name in names.split()]


@register.filter
def scripts(names: str) -> list[str]:
    """Return the scripts of these behaviours."""
    return [f"panel/js/{name}.js" for name in names.split()]


@register.filter("words")
def split_words(text: str) -> list[str]:
    """Return the words of a literal, to loop over."""
    return text.split()


@register.filter
def due_state(expires_at: datetime, now: datetime) -> str:
    """Return the state that an expiry is drawn in: over, within two weeks, or later."""
    if expires_at <= now:
        return "down"
    return "degraded" if expires_at - now < timedelta(days=14) else "ok"


@register.filter
def ladder_rungs(run: RunView | None) -> tuple[RungView, ...]:
    """Return the five rungs to draw, hollow ones before the first run."""
    return run.rungs if run else EMPTY_LADDER


@register.filter
def is_broken(rung: RungView, run: RunView | None) -> bool:
    """Tell whether this rung carries the verdict: the first that broke, or the one that is over a limit."""
    return run is not None and bool(rung.reason) and rung.status in ("down", "not_testable", "degraded")


@register.filter
def facts_said(run: RunView) -> dict[str, str]:
    """Return the facts of the rung that decided a run."""
    return next((dict(rung.say) for rung in run.rungs if rung.number == run.rung), {})


@register.filter
def place_name(place: str) -> str:
    """Return how a place of checks is called: a zone of workers, or "host:" and a host's name."""
    kind, colon, name = place.partition(":")
    if colon and kind == "host":
        return gettext("host %(name)s") % {"name": name}
    return gettext("the panel") if place == "panel" else place


@register.filter("places_worth_saying")
def said_places(rung: RungView, usual: str) -> list[str]:
    """Return how the places of a rung are called, where they are not the run's own place alone."""
    return [place_name(place) for place in places_worth_saying(rung, usual)]


@register.filter
def range_name(name: str) -> str:
    """Return "24 h" for the range "24h"."""
    sentence = gettext("%(n)s h") if name.endswith("h") else gettext("%(n)s d")
    return sentence % {"n": name[:-1]}


@register.filter
def iso_time(value: datetime | None) -> str:
    """Return a time with its offset, for texts that leave the page."""
    return clock.full(value) if value else "—"


@register.filter
def active_key(endpoint: object) -> object:
    """Return the key in use of an endpoint whose keys were fetched with it; None for none."""
    versions = endpoint.key_versions.all()  # type: ignore[attr-defined]
    return next((key for key in versions if key.state == "active"), None)


@register.filter
def url_path(url: str) -> str:
    """Return a URL without scheme and host, which stand beside it: "…/v1/chat/completions"."""
    return "…" + urlsplit(url).path


@register.filter
def drawn_status(rung: RungView, run: RunView | None) -> str:
    """Return how a rung is drawn: hollow where nothing is known, turning where a climb begins."""
    if run is not None and run.state == "running" and rung.number == 1 and not rung.status:
        return "running"
    return rung.status or "not_reached"
