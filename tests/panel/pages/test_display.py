"""How single values are written and drawn."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.utils.translation import override

from panel.history import Strip
from panel.templatetags import bundles, clock, drawing, strips
from panel.templatetags.differences import Line, differences

NOW = datetime(2026, 11, 30, 14, 25, 10, tzinfo=UTC)


def text_of(element: str) -> str:
    return re.sub(r"<[^>]+>", "", element)


@pytest.mark.parametrize(
    ("back", "english", "chinese"),
    [
        (timedelta(seconds=30), "30 s ago", "30秒前"),
        (timedelta(minutes=25), "25 min ago", "25分钟前"),
        (timedelta(hours=2), "12:25", "12:25"),
        (timedelta(days=7), "23 Nov", "11月23日"),
        (timedelta(days=400), "26 Oct 2025", "2025年10月26日"),
    ],
)
def test_a_time_is_as_near_as_it_is_useful(back: timedelta, english: str, chinese: str) -> None:
    with override("en"):
        assert text_of(clock.when(NOW - back, NOW)) == english
    with override("zh-hans"):
        assert text_of(clock.when(NOW - back, NOW)) == chinese


def test_a_time_carries_itself_for_machines() -> None:
    assert 'datetime="2026-11-30T14:25:10+00:00"' in clock.when(NOW, NOW)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "—"),
        (0.43, "0.4 ms"),
        (288.2, "288 ms"),
        (999.6, "1.00 s"),
        (1240, "1.24 s"),
        (12_400, "12.4 s"),
    ],
)
def test_milliseconds_become_seconds_with_three_digits(value: float | None, said: str) -> None:
    assert clock.milliseconds(value).replace("\u2009", " ") == said


@pytest.mark.parametrize(
    ("share", "said"), [(None, "—"), (1.0, "100 %"), (0.99999, "99.99 %"), (0.9826, "98.26 %"), (0.0, "0 %")]
)
def test_a_share_is_never_rounded_up_to_all(share: float | None, said: str) -> None:
    assert clock.percent(share).replace("\u2009", " ") == said


@pytest.mark.parametrize(
    ("value", "observed", "said"),
    [
        (None, 0, "—"),
        (1.0, 3, "100 %"),
        (2 / 3, 3, "66 %"),
        (0.9972, 288, "99 %"),
        (0.9972, 1000, "99.7 %"),
        (0.99726, 40_000, "99.72 %"),
        (0.0, 5, "0 %"),
    ],
)
def test_a_share_has_no_more_digits_than_its_runs_carry(
    value: float | None, observed: int, said: str
) -> None:
    assert clock.share(value, observed).replace("\u2009", " ") == said


def a_strip(*states: str, first: int | None = 0) -> Strip:
    return Strip(states, NOW - timedelta(minutes=30 * len(states)), timedelta(minutes=30), 1.0, 1.0, first)


def test_what_lies_before_the_first_evidence_is_blank_and_a_gap_after_it_is_unknown() -> None:
    drawn = strips.strip_spells(a_strip("", "ok", "", "ok", first=1))
    assert [(spell.state, spell.first, spell.last) for spell in drawn] == [
        ("ok", 1, 1),
        ("unknown", 2, 2),
        ("ok", 3, 3),
    ]


def test_a_strip_is_read_out_as_a_sentence() -> None:
    assert strips.strip_sentence(a_strip("ok", "ok")) == "OK throughout"
    assert strips.strip_sentence(a_strip("ok", "down", "ok", "degraded")).startswith("Down from ")
    assert strips.strip_sentence(a_strip("", "", first=None)) == "no evidence yet"


def test_worse_states_are_taller() -> None:
    heights = [drawing.HEIGHTS[state] for state in ("unknown", "ok", "degraded", "down")]
    assert heights == sorted(heights)


@pytest.mark.parametrize("state", [*drawing.HEIGHTS, "paused"])
def test_every_state_has_a_shape(state: str) -> None:
    assert f'class="b-{state}"' in drawing.bars([drawing.Spell(state, 0, 47)], 48, "label")


def test_a_label_cannot_break_out_of_its_drawing() -> None:
    svg = drawing.bars([drawing.Spell("down", 0, 0, '"><script>')], 1, '"><script>')
    assert "<script>" not in svg


def test_a_chart_has_a_gap_where_nothing_was_measured() -> None:
    marks = [drawing.Mark(400, 800, "ok"), drawing.Mark(None, None, ""), drawing.Mark(410, 900, "ok")]
    svg = drawing.chart(marks, 1000, 900, "label")
    assert svg.count('class="g-gap"') == 1
    assert svg.count('class="g-p50"') == 2


@pytest.mark.parametrize(("highest", "limit"), [(0, None), (397, None), (860, 2000), (61_000, None)])
def test_the_top_of_a_chart_is_round_and_above_everything(highest: float, limit: int | None) -> None:
    top = drawing.nice_top(highest, limit)
    assert top > highest
    assert limit is None or top > limit
    assert (top / 4) == int(top / 4)


def test_a_bundle_keeps_every_byte_when_it_is_coloured() -> None:
    text = '# a <b>\nexport OPENAI_API_KEY="········c41f"\n\nOPENAI_MODEL=x\n[llm]\nodd line'
    coloured = bundles.coloured(text)
    assert text_of(coloured).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"') == text
    assert '<span class="c-m">' in coloured


def test_a_difference_names_what_was_and_what_is() -> None:
    before = {"name": "a", "lanes": [{"kind": "agent", "model": "x", "in_use": True}]}
    after = {"name": "a", "lanes": [{"kind": "agent", "model": "y", "in_use": True}]}
    assert differences(before, after) == [
        Line("-", "lanes.agent.model", "x"),
        Line("+", "lanes.agent.model", "y"),
    ]
