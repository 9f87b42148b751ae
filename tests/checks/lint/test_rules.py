"""Each rule strikes one file and leaves another alone, and says in both languages what to do."""

from __future__ import annotations

from typing import Any

import pytest

from checks.lint import CONFIG_SYNTAX, RULES, Finding, Severity, lint, say
from checks.lint.messages import LANGUAGES, sentences
from checks.reason import Reason
from tests.checks.lint.cases import examples, line_of

EXAMPLES = examples()


def struck(rule: str) -> list[Finding]:
    example = EXAMPLES[rule]
    data = example["fires"].encode(example.get("encoding", "utf-8"))
    found = lint(data, name=example["name"], reader=example.get("reader"))
    return [finding for finding in found if finding.rule == rule]


def lines_of(found: list[Finding]) -> list[int | None]:
    return [finding.line for finding in found]


def spared(example: dict[str, Any]) -> tuple[Finding, ...]:
    reader = example.get("silent_reader", example.get("reader"))
    return lint(example["silent"].encode(), name=example.get("silent_name", example["name"]), reader=reader)


def test_each_rule_has_its_example_and_there_are_more_than_forty() -> None:
    assert set(EXAMPLES) == set(RULES)
    assert len(RULES) > 40


def test_each_rule_strikes_its_example_at_the_line() -> None:
    missed = [
        rule for rule, example in EXAMPLES.items() if line_of(example["line"]) not in lines_of(struck(rule))
    ]
    assert missed == []


def test_each_rule_leaves_the_mended_file_alone() -> None:
    assert [rule for rule in EXAMPLES if rule in {finding.rule for finding in spared(EXAMPLES[rule])}] == []


def test_codes_are_those_of_the_dictionary() -> None:
    known = {reason.value for reason in Reason} | {CONFIG_SYNTAX}
    assert {finding.code for rule in RULES for finding in struck(rule)} <= known


def test_what_the_file_cannot_prove_is_a_warning_that_names_the_probe() -> None:
    suspicions = [name for name, rule in RULES.items() if not rule.provable]
    severities = {finding.severity for rule in suspicions for finding in struck(rule)}
    assert severities == {Severity.WARNING}
    assert [rule for rule in suspicions for lang in LANGUAGES if not sentences()[rule, lang].probe] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_rule_has_whole_sentences(lang: str) -> None:
    end = "。" if lang == "zh" else "."
    said = [said for (_, spoken), said in sentences().items() if spoken == lang]
    parts = [
        part.removesuffix(" {said}") for one in said for part in (one.fault, one.mend, one.probe) if part
    ]
    assert [part for part in parts if not part.rstrip('”"…').endswith(end) and part[-1] != "…"] == []


def test_no_fact_is_missing_from_a_sentence_and_no_key_is_in_it() -> None:
    for rule in RULES:
        for finding in struck(rule):
            text = finding.key + "".join(say(finding, lang) for lang in LANGUAGES)
            assert not [sign for sign in ("{", "}", "EXAMPLE") if sign in text], rule
