"""`python -m checks lint`, from a terminal's point of view."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from checks.__main__ import main
from tests.checks.lint.cases import CONFIGURATIONS

QUOTED = str(CONFIGURATIONS / "d01-docker-quoted.env")
CLEAN = str(CONFIGURATIONS / "d23-control.env")
SUSPECT = str(CONFIGURATIONS / "d04-missing-v1.env")

Output = pytest.CaptureFixture[str]


def test_an_error_exits_with_one_and_prints_an_object_a_finding(capsys: Output) -> None:
    assert main(["lint", QUOTED, "--json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["line"] for one in found] == [2, 3, 4]
    key = found[-1]
    assert (key["file"], key["code"], key["severity"]) == (QUOTED, "auth_key_malformed", "error")
    assert (key["key"], key["rule"]) == ("LLM_API_KEY", "quotes_kept")
    assert (
        key["message"]
        == "docker keeps the quotes around LLM_API_KEY as part of the value. Delete the quotes."
    )


def test_a_clean_file_prints_nothing_as_json_and_exits_with_zero(capsys: Output) -> None:
    assert main(["lint", CLEAN, "--json"]) == 0
    assert capsys.readouterr().out == ""


def test_a_clean_file_says_so_to_a_person(capsys: Output) -> None:
    assert main(["lint", CLEAN]) == 0
    assert capsys.readouterr().out == "1 file: nothing to mend.\n"


def test_a_warning_alone_exits_with_zero(capsys: Output) -> None:
    assert main(["lint", SUSPECT]) == 0
    assert "1 file: 0 errors, 1 warning." in capsys.readouterr().out


def test_the_reader_decides(capsys: Output) -> None:
    assert main(["lint", QUOTED, "--reader", "python-dotenv", "--json"]) == 0
    assert main(["lint", QUOTED, "--reader", "docker", "--json"]) == 1


def test_the_sentences_are_there_in_chinese(capsys: Output) -> None:
    main(["lint", QUOTED, "--lang", "zh"])
    assert "删除引号。" in capsys.readouterr().out


def test_a_file_that_is_not_there_exits_with_two(capsys: Output) -> None:
    assert main(["lint", "nowhere.env"]) == 2
    assert capsys.readouterr().err == "nowhere.env: It cannot be read (No such file or directory).\n"


def test_an_unknown_reader_exits_with_two_and_offers_a_near_name(capsys: Output) -> None:
    assert main(["lint", CLEAN, "--reader", "dockr"]) == 2
    assert "Did you mean docker?" in capsys.readouterr().err


def test_several_files_are_judged_together(capsys: Output) -> None:
    folder = CONFIGURATIONS / "d14"
    main(["lint", str(folder / "project.env"), str(folder / "shell-profile.sh"), "--json"])
    (found,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (found["code"], found["line"], found["key"]) == ("env_shadowed", 1, "OPENAI_API_KEY")


def test_the_standard_input_is_a_file(monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"OPENAI_API_KEY=Bearer sk-EXAMPLE\n")))
    assert main(["lint", "-"]) == 1
    assert capsys.readouterr().out.startswith("-:1: error [auth_key_malformed]")


def test_a_hostile_name_cannot_steer_the_terminal(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "\x1b[2J.env"
    path.write_text("prose and prose\n")
    assert main(["lint", str(path)]) == 1
    assert "\x1b" not in capsys.readouterr().out
