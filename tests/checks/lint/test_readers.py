"""The same line is right for one reader and wrong for another, and the file often says who reads it."""

from __future__ import annotations

import pytest

from checks.lint import Severity, UnknownReader, lint, readers

QUOTED = b'OPENAI_API_KEY="sk-EXAMPLE000000000000000000"\n'
VERSIONED = b"LLM_API_KEY=sk-EXAMPLE0000\nLLM_BASE_URL=https://relay.example/v1\n"


def codes(text: bytes, name: str = ".env", reader: str | None = None) -> list[str]:
    return [finding.code for finding in lint(text, name=name, reader=reader)]


@pytest.mark.parametrize("reader", ["docker", "podman", "kubectl", "github-env", "make"])
def test_quotes_become_part_of_the_key_for_readers_that_keep_them(reader: str) -> None:
    assert "auth_key_malformed" in codes(QUOTED, reader=reader)


@pytest.mark.parametrize("reader", ["compose", "shell", "python-dotenv", "node", "systemd", "uv", None])
def test_quotes_are_right_for_readers_that_take_them_off(reader: str | None) -> None:
    assert codes(QUOTED, reader=reader) == []


def test_a_note_in_the_file_names_its_reader() -> None:
    assert codes(b"# docker run --env-file this\n" + QUOTED) == ["auth_key_malformed"]
    assert codes(b"# node --env-file=.env server.js\n" + QUOTED) == []


def test_the_name_of_the_file_names_its_reader() -> None:
    assert codes(QUOTED, name="prod.docker.env") == ["auth_key_malformed"]


def test_a_phrase_names_several_readers_at_once() -> None:
    loopback = b"LLM_API_KEY='EMPTY'\nLLM_BASE_URL=http://localhost:8000/v1\n"
    found = codes(loopback, reader="openai client, docker run --env-file")
    assert found == ["auth_key_malformed", "container_loopback"]


def test_a_client_that_appends_the_version_doubles_it() -> None:
    assert codes(VERSIONED, reader="a client that appends /v1/chat/completions") == ["base_url_double_v1"]
    assert codes(VERSIONED, reader="litellm (appends /chat/completions)") == []


def test_the_first_of_two_lines_counts_for_some_readers() -> None:
    text = b"OPENAI_MODEL=a\nOPENAI_MODEL=b\n"
    wins = {reader: lint(text, name=".env", reader=reader)[0].facts["wins"] for reader in ("uv", "node")}
    assert wins == {"uv": "1", "node": "2"}


def test_two_lines_with_one_name_end_some_readers() -> None:
    (found,) = lint(b"A=1\nA=1\n", name=".env", reader="kubectl")
    assert (found.code, found.severity) == ("config_syntax", Severity.ERROR)


def test_line_ends_of_windows_stay_in_the_value_for_a_shell() -> None:
    text = QUOTED.replace(b"\n", b"\r\n")
    assert codes(text, reader="shell") == ["auth_key_malformed"]
    assert codes(text, reader="compose") == []


def test_an_unknown_reader_is_refused_with_names_that_are_near() -> None:
    with pytest.raises(UnknownReader) as caught:
        lint(b"", name=".env", reader="dokcer")
    assert caught.value.near == ("docker",)


def test_a_plain_file_is_right_for_every_reader_of_lines() -> None:
    text = b"LLM_PROVIDER=openai\nLLM_API_KEY=sk-EXAMPLE000000000000000000\n"
    assert [reader for reader in readers() if codes(text, reader=reader)] == ["fish"]
