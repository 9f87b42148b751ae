"""The catalogues: complete, compiled as committed, and free of what Chinese text does not have."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pytest
from django.conf import settings
from django.forms import ModelChoiceField
from django.utils.translation import override

import panel.forms
from checks.addresses import AddressProblem
from checks.keys import KeyProblem
from checks.pasted import Edit
from panel.exports.problems import ProblemCode
from panel.forms import sentences
from panel.templatetags import bundles, words
from panel.templatetags.cron_words import cron_words

PO = Path(settings.LOCALE_PATHS[0]) / "zh_Hans" / "LC_MESSAGES" / "django.po"
HAN = r"[\u4e00-\u9fff]"
SLOT = re.compile(r"%\((\w+)\)[sd]")


@pytest.fixture(scope="module")
def catalogue():
    pofile = pytest.importorskip("babel.messages.pofile")
    with PO.open("rb") as file:
        return pofile.read_po(file)


def messages(catalogue):
    return [message for message in catalogue if message.id]


def forms_of(package: ModuleType) -> list[Any]:
    """Every form that a package's modules define."""
    modules = [import_module(f"{package.__name__}.{each.name}") for each in iter_modules(package.__path__)]
    found = {each for module in modules for each in vars(module).values() if isinstance(each, type)}
    return sorted((each for each in found if hasattr(each, "base_fields")), key=lambda each: each.__name__)


def translations(message) -> list[str]:
    return list(message.string) if isinstance(message.string, (tuple, list)) else [message.string]


def spoken(catalogue) -> dict[tuple[str | None, str], list[str]]:
    """Each message by its context and singular, with its translations."""
    singular = {id(m): m.id if isinstance(m.id, str) else m.id[0] for m in messages(catalogue)}
    return {(m.context, singular[id(m)]): translations(m) for m in messages(catalogue)}


def test_no_message_is_missing_or_fuzzy(catalogue) -> None:
    assert [
        message.id for message in messages(catalogue) if message.fuzzy or not all(translations(message))
    ] == []


def test_the_compiled_catalogue_is_the_one_that_is_written(catalogue) -> None:
    mofile = pytest.importorskip("babel.messages.mofile")
    with PO.with_suffix(".mo").open("rb") as file:
        compiled = mofile.read_mo(file)
    assert spoken(compiled) == spoken(catalogue)


def test_every_value_of_a_sentence_is_in_its_translation(catalogue) -> None:
    for message in messages(catalogue):
        named = set(SLOT.findall(message.id if isinstance(message.id, str) else message.id[-1]))
        for text in translations(message):
            assert set(SLOT.findall(text)) <= named, message.id


def test_chinese_has_full_width_punctuation_and_no_typed_spaces(catalogue) -> None:
    wrong = re.compile(rf"{HAN}[,;:?!]|[,;:?!]{HAN}|{HAN} [A-Za-z0-9%]|[A-Za-z0-9)] {HAN}")
    found = [text for message in messages(catalogue) for text in translations(message) if wrong.search(text)]
    assert found == []


def test_every_marked_string_of_the_panel_is_in_the_catalogue(catalogue) -> None:
    """The templates' plain strings are looked for as they stand; gettext itself is not needed."""
    known = {message.id for message in messages(catalogue) if isinstance(message.id, str)}
    marked = re.compile(r"""\{% translate (?:"([^"]+)"|'([^']+)')""")
    root = Path(settings.BASE_DIR) / "templates"
    said = {
        first or second
        for path in root.rglob("*")
        if path.is_file()
        for first, second in marked.findall(path.read_text())
    }
    assert said - known == set()


@pytest.mark.parametrize(
    ("sentences_by_code", "codes"),
    [
        (sentences.EDITS, Edit),
        (sentences.ADDRESSES, AddressProblem),
        (sentences.KEYS, KeyProblem),
        (bundles.PROBLEMS, ProblemCode),
    ],
)
def test_every_code_has_a_sentence(sentences_by_code, codes) -> None:
    assert set(sentences_by_code) == set(codes)


def test_state_words_are_short_and_differ() -> None:
    for language, most in (("en", 12), ("zh-hans", 4)):
        with override(language):
            said = [str(word) for word in words.STATES.values()]
        assert len(set(said)) == len(said)
        assert max(map(len, said)) <= most


def test_no_choice_of_a_form_shows_a_slot_for_a_value() -> None:
    """A phrase that is plain in one place and counted in another is one entry, with the count's slot."""
    with override("zh-hans"):
        said = [
            str(label)
            for form in forms_of(panel.forms)
            for field in form.base_fields.values()
            if not isinstance(field, ModelChoiceField)
            for _, label in getattr(field, "choices", ())
        ]
    assert "每小时" in said
    assert [label for label in said if SLOT.search(label)] == []


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("* * * * *", "每分钟"),
        ("*/5 * * * *", "每5分钟"),
        ("0 * * * *", "每小时"),
        ("0 */6 * * *", "每6小时"),
    ],
)
def test_a_rhythm_is_counted_in_chinese_only_where_it_has_a_count(expression: str, said: str) -> None:
    with override("zh-hans"):
        assert cron_words(expression) == said
