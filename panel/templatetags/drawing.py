"""Draws bars, pips, phases and the latency chart as inline SVG, whose colours come from classes alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple, TypeVar

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

One = TypeVar("One")
# Share of a bar's height by state, so that a strip reads without hue. Paused is a line.
HEIGHTS = {
    "ok": 0.44,
    "degraded": 0.72,
    "down": 1.0,
    "unknown": 0.16,
    "not_testable": 0.44,
    "maintenance": 0.44,
}
BAR, GAP = 4, 2
PLOT_WIDTH, PLOT_HEIGHT = 960, 168


class Spell(NamedTuple):
    """Neighbouring bars of one state, counted from 0, both ends included. `title` may be empty."""

    state: str
    first: int
    last: int
    title: str = ""


class Mark(NamedTuple):
    """One point of the chart: milliseconds (None: no answer) and the state at that time ("" for none)."""

    p50: float | None
    p95: float | None
    state: str


def icon(name: str, classes: str = "") -> SafeString:
    """Return a use of one symbol of the page's sprite; the word stands beside it."""
    return format_html('<svg class="i {}" aria-hidden="true"><use href="#{}"/></svg>', classes, name)


def bars(spells: Sequence[Spell], count: int, label: str, *, large: bool = False) -> SafeString:
    """Return a strip of `count` bars stretched to its cell; `label` is what a reader hears for all of it.

    A spell is one dashed line, however many bars it has: a page shows thousands of them.
    """
    height = 32 if large else 20
    return format_html(
        '<svg class="bars{}" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
        "{}</svg>",
        " lg" if large else "",
        max(1, count * (BAR + GAP) - GAP),
        height,
        label,
        format_html_join("", "{}", ((_spell(spell, height),) for spell in spells)),
    )


def _spell(spell: Spell, height: int) -> SafeString:
    title = format_html("<title>{}</title>", spell.title) if spell.title else ""
    shape = _SHAPES.get(spell.state, _dashes)(spell, height)
    return format_html('<path class="b-{}" {}>{}</path>', spell.state, shape, title)


def _dashes(spell: Spell, height: int) -> SafeString:
    tall = max(2, round(HEIGHTS[spell.state] * height))
    start, end = spell.first * (BAR + GAP), spell.last * (BAR + GAP) + BAR
    return format_html(
        'd="M{} {}H{}" stroke-width="{}" stroke-dasharray="{} {}"',
        start,
        f"{height - tall / 2:g}",
        end,
        tall,
        BAR,
        GAP,
    )


def _hollow(spell: Spell, height: int) -> SafeString:
    tall = round(HEIGHTS[spell.state] * height)
    boxes = (
        f"M{n * (BAR + GAP) + 0.5} {height - tall + 0.5}h{BAR - 1}v{tall - 1}h{1 - BAR}z"
        for n in range(spell.first, spell.last + 1)
    )
    return format_html('d="{}"', "".join(boxes))


def _line(spell: Spell, height: int) -> SafeString:
    start, end = spell.first * (BAR + GAP), spell.last * (BAR + GAP) + BAR
    return format_html('d="M{} {}H{}" stroke-width="1.5"', start, height - 0.75, end)


_SHAPES = {"not_testable": _hollow, "paused": _line}


def pips(words: Iterable[str], label: str) -> SafeString:
    """Return the micro ladder: five marks of pass, warn, fail, none, nt or run, first rung first."""
    marks = format_html_join("", "{}", ((_pip(word, n * 9.5),) for n, word in enumerate(words)))
    return format_html(
        '<svg class="pips" viewBox="0 0 46 12" role="img" aria-label="{}">{}</svg>', label, marks
    )


def _pip(word: str, x: float) -> SafeString:
    if word == "fail":
        return format_html(
            '<rect class="pip-fail" x="{}" y="0" width="8" height="12" rx="1.5"/>'
            '<path class="pip-x" d="M{} 4.4 {} 7.6M{} 4.4 {} 7.6"/>',
            x,
            x + 2.4,
            x + 5.6,
            x + 5.6,
            x + 2.4,
        )
    if word == "warn":
        return format_html(
            '<rect class="pip-warn" x="{}" y="1.5" width="8" height="9" rx="1.5"/>'
            '<path class="pip-x" d="M{} 3.9v2.7M{} 8.5v.1"/>',
            x,
            x + 4,
            x + 4,
        )
    if word in ("none", "nt"):
        return format_html('<rect class="pip-{}" x="{}" y="3.5" width="7" height="5" rx="1"/>', word, x + 0.5)
    return format_html('<rect class="pip-{}" x="{}" y="3" width="8" height="6" rx="1.5"/>', word, x)


def phase_bar(parts: Sequence[float]) -> SafeString:
    """Return one line cut in proportion to the milliseconds of each phase."""
    total = sum(parts) or 1
    rects, x = [], 0.0
    for n, ms in enumerate(parts):
        width = ms / total * 600
        rects.append((n % 3 + 1, f"{x:.1f}", f"{max(1.0, width - 2):.1f}"))
        x += width
    drawn = format_html_join("", '<rect class="ph-{}" x="{}" y="0" width="{}" height="6"/>', rects)
    return format_html(
        '<svg viewBox="0 0 600 6" preserveAspectRatio="none" aria-hidden="true">{}</svg>', drawn
    )


def chart(marks: Sequence[Mark], top: float, limit: float | None, label: str) -> SafeString:
    """Return the latency plot: p50 line, band to p95, limit, gaps and times of being down.

    `top` is the value of the uppermost line, in milliseconds; the lowest is zero.
    """
    plot = _Plot(len(marks), top)
    parts = [
        *(plot.line(quarter) for quarter in range(5)),
        *(
            plot.span("g-gap", a, b)
            for a, b in runs_of(marks, lambda mark: mark.p50 is None and mark.state != "down")
        ),
        *(plot.down(a, b) for a, b in runs_of(marks, lambda mark: mark.state == "down")),
        plot.limit(limit),
        *(plot.curve(marks, a, b) for a, b in runs_of(marks, lambda mark: mark.p50 is not None)),
    ]
    return format_html(
        '<svg class="plot" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
        "{}</svg>",
        PLOT_WIDTH,
        PLOT_HEIGHT,
        label,
        format_html_join("", "{}", ((part,) for part in parts)),
    )


class _Plot:
    """Turns points and milliseconds into places on the plot."""

    def __init__(self, count: int, top: float) -> None:
        self.step = PLOT_WIDTH / max(1, count)
        self.top = top or 1

    def x(self, n: float) -> str:
        return f"{(n + 0.5) * self.step:.1f}"

    def y(self, ms: float) -> str:
        return f"{PLOT_HEIGHT - min(ms, self.top) / self.top * PLOT_HEIGHT:.1f}"

    def line(self, quarter: int) -> SafeString:
        return format_html('<path class="g-line" d="M0 {}H{}"/>', PLOT_HEIGHT * quarter / 4, PLOT_WIDTH)

    def limit(self, ms: float | None) -> SafeString:
        if ms is None or ms > self.top:
            return SafeString("")
        return format_html('<path class="g-limit" d="M0 {}H{}"/>', self.y(ms), PLOT_WIDTH)

    def span(self, name: str, first: int, last: int) -> SafeString:
        left, width = first * self.step, (last - first + 1) * self.step
        return format_html(
            '<rect class="{}" x="{}" y="0" width="{}" height="{}"/>',
            name,
            f"{left:.1f}",
            f"{width:.1f}",
            PLOT_HEIGHT,
        )

    def down(self, first: int, last: int) -> SafeString:
        edge = format_html(
            '<path class="g-down-edge" d="M{} 0V{}"/>', f"{first * self.step:.1f}", PLOT_HEIGHT
        )
        return self.span("g-down", first, last) + edge

    def curve(self, marks: Sequence[Mark], first: int, last: int) -> SafeString:
        points = range(first, last + 1)
        low = [f"{self.x(n)} {self.y(marks[n].p50 or 0)}" for n in points]
        high = [f"{self.x(n)} {self.y(marks[n].p95 or marks[n].p50 or 0)}" for n in points]
        if len(low) == 1:  # a single answer between two gaps is a short stroke, not an invisible dot
            half = self.step / 2
            low, high = (
                [
                    f"{(first + 0.5) * self.step - half:.1f} {point.split()[1]}",
                    f"{(first + 0.5) * self.step + half:.1f} {point.split()[1]}",
                ]
                for point in (low[0], high[0])
            )
        return format_html(
            '<path class="g-band" d="M{} L{}Z"/><path class="g-p95" d="M{}"/><path class="g-p50" d="M{}"/>',
            " ".join(high),
            " ".join(reversed(low)),
            " ".join(high),
            " ".join(low),
        )


def runs_of(items: Sequence[One], holds: Callable[[One], bool]) -> list[tuple[int, int]]:
    """Return (first, last) of every unbroken spell for which `holds` is true."""
    spells = []
    for wanted, group in groupby(range(len(items)), key=lambda n: holds(items[n])):
        places = list(group)
        if wanted:
            spells.append((places[0], places[-1]))
    return spells


def nice_top(highest: float, limit: float | None) -> float:
    """Return a round value in milliseconds above both, which divides into four round steps."""
    wanted = max(highest * 1.05, (limit or 0) * 1.2, 40)
    scale = 1.0
    while True:
        for step in (40, 60, 80, 100, 120, 160, 200, 240, 300, 320):
            if step * scale >= wanted:
                return step * scale
        scale *= 10
