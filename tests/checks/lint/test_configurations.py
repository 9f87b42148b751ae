"""The recorded configurations and others of their kinds come out right, and correct files stay silent."""

from __future__ import annotations

from typing import Any

import pytest

from checks.lint import Severity, lint, lint_files
from tests.checks.lint.cases import Configuration, configurations, line_of, variants

ALL = configurations()


@pytest.mark.parametrize("case", [case for case in ALL if case.code != "ok"], ids=lambda case: case.id)
@pytest.mark.parametrize("told", [False, True], ids=["guessed", "told"])
def test_a_recorded_configuration_is_named_at_its_line(case: Configuration, told: bool) -> None:
    found = lint_files(case.files(), reader=case.reader if told else None)
    right = [finding for finding in found if (finding.code, finding.line) == (case.code, case.line)]
    assert right, found
    if not case.provable:
        assert {finding.severity for finding in right} == {Severity.WARNING}


@pytest.mark.parametrize("case", [case for case in ALL if case.code == "ok"], ids=lambda case: case.id)
@pytest.mark.parametrize("told", [False, True], ids=["guessed", "told"])
def test_a_correct_configuration_is_left_alone(case: Configuration, told: bool) -> None:
    assert lint_files(case.files(), reader=case.reader if told else None) == ()


def test_a_folder_of_unrelated_files_is_not_compared_with_itself() -> None:
    files = [pair for case in ALL for pair in case.files()]
    found = {finding.file for finding in lint_files(files)}
    assert not found & {"d23-control.env", "d24-control.yaml"}


@pytest.mark.parametrize(
    "variant", variants(), ids=lambda variant: f"{variant['code'] or 'silent'}-{variant['name']}"
)
def test_another_file_of_a_recorded_kind_comes_out_right(variant: dict[str, Any]) -> None:
    found = lint(variant["text"].encode(), name=variant["name"], reader=variant.get("reader"))
    if not variant["code"]:
        assert found == ()
        return
    assert (variant["code"], line_of(variant["line"])) in {(one.code, one.line) for one in found}
