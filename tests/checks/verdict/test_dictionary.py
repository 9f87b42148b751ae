"""The dictionary is complete, in both languages, and keeps to the product's voice."""

from __future__ import annotations

import re

import pytest

from checks import reasons
from checks.reason import Reason

HAN = r"[\u4e00-\u9fff]"
CODES = [reason.value for reason in Reason]
DEEDS = {
    *("Ask", "Call", "Compare", "Count", "Create", "List", "Log", "Look", "Open"),
    *("Post", "Print", "Read", "Repeat", "Resolve", "Run", "Send", "Time", "Try"),
}
BOTH = [(code, lang) for code in CODES for lang in reasons.LANGUAGES]


def _sentences(lang: str) -> list[str]:
    said = [reasons.entry(code, lang) for code in CODES]
    return [text for entry in said for text in (entry.title, entry.cause, *entry.fix, entry.probe)]


def test_every_reason_has_both_languages() -> None:
    assert list(reasons.codes()) == CODES


@pytest.mark.parametrize("lang", reasons.LANGUAGES)
def test_no_two_reasons_share_a_title(lang: str) -> None:
    titles = [reasons.entry(code, lang).title for code in CODES]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(("code", "lang"), BOTH)
def test_an_entry_has_title_cause_and_fix(code: str, lang: str) -> None:
    said = reasons.entry(code, lang)
    assert said.title
    assert said.cause.endswith((".", "。"))
    assert said.fix
    assert all(step.endswith((".", "。")) for step in said.fix)


def test_both_languages_give_the_same_steps() -> None:
    assert [len(reasons.entry(code, "en").fix) for code in CODES] == [
        len(reasons.entry(code, "zh").fix) for code in CODES
    ]


@pytest.mark.parametrize(("lang", "one_sentence"), [("en", r"[^.]*(\.\w[^.]*)*\."), ("zh", r"[^。]+。")])
def test_a_probe_is_one_sentence(lang: str, one_sentence: str) -> None:
    probes = [reasons.entry(code, lang).probe for code in CODES]
    assert [probe for probe in probes if not re.fullmatch(one_sentence, probe)] == []


@pytest.mark.parametrize("lang", reasons.LANGUAGES)
def test_no_two_reasons_share_a_probe(lang: str) -> None:
    probes = [reasons.entry(code, lang).probe for code in CODES]
    assert len(set(probes)) == len(probes)


def test_english_probes_are_short_and_begin_with_a_deed() -> None:
    probes = {code: reasons.entry(code, "en").probe for code in CODES}
    assert [code for code, probe in probes.items() if len(probe) > 160] == []
    assert {probe.split()[0] for probe in probes.values()} <= DEEDS


def test_chinese_probes_are_short() -> None:
    probes = {code: reasons.entry(code, "zh").probe for code in CODES}
    assert [code for code, probe in probes.items() if len(re.findall(HAN, probe)) > 80] == []


def test_english_titles_are_short() -> None:
    assert [code for code in CODES if len(reasons.entry(code, "en").title) > 60] == []


def test_chinese_titles_are_short() -> None:
    titles = {code: reasons.entry(code, "zh").title for code in CODES}
    assert [code for code, title in titles.items() if len(re.findall(HAN, title)) > 20] == []


def test_english_sentences_neither_beg_nor_blame() -> None:
    begging = re.compile(r"\b(please|oops|sorry|failed to|unfortunately|you must|your fault)\b|!", re.I)
    assert [text for text in _sentences("en") if begging.search(text)] == []


def test_chinese_sentences_use_full_width_signs() -> None:
    half_width = re.compile(rf"{HAN}[,;:!?()]|[,;:!?()]{HAN}|{HAN}\.")
    assert [text for text in _sentences("zh") if half_width.search(text)] == []


def test_chinese_and_latin_stand_without_typed_blanks() -> None:
    assert [text for text in _sentences("zh") if re.search(rf"{HAN} | {HAN}", text)] == []


@pytest.mark.parametrize("lang", reasons.LANGUAGES)
def test_sentences_hold_no_placeholders_and_no_markup(lang: str) -> None:
    assert [text for text in _sentences(lang) if re.search(r"[{}<>*`]", text)] == []


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(KeyError):
        reasons.entry("no_such_code")
