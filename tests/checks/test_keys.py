"""Keys as people paste them, and that nothing of them comes back in an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.keys import CleanKey, KeyProblem, KeyRefused, KeyShape, clean_key, describe
from checks.pasted import Edit
from checks.spec import Masked

KEY = "sk-test-0123456789abcdef"


def refusal(raw: str) -> KeyRefused:
    with pytest.raises(KeyRefused) as caught:
        clean_key(raw)
    return caught.value


@pytest.mark.parametrize(
    "key", [KEY, "sk-1234", "EMPTY", "abc==", "a.b_c-d~e+f/g", "0123.abc", "{brace", "it's", "0x" * 2048]
)
def test_a_key_that_a_header_can_carry_is_kept(key: str) -> None:
    assert clean_key(key) == CleanKey(Masked(key))


@pytest.mark.parametrize(
    ("raw", "edits"),
    [
        (KEY + "\n", (Edit.STRIPPED_BLANKS,)),
        (KEY + "\r\n", (Edit.STRIPPED_BLANKS,)),
        (KEY + " ", (Edit.STRIPPED_BLANKS,)),
        (" " + KEY, (Edit.STRIPPED_BLANKS,)),
        ("\t" + KEY, (Edit.STRIPPED_BLANKS,)),
        (KEY + "\u00a0", (Edit.STRIPPED_BLANKS,)),
        (KEY + "\u200b", (Edit.STRIPPED_BLANKS,)),
        ("\ufeff" + KEY, (Edit.STRIPPED_BLANKS,)),
        (KEY + "\u2060\u3000\u2800", (Edit.STRIPPED_BLANKS,)),
        (f'"{KEY}"', (Edit.STRIPPED_QUOTES,)),
        (f"'{KEY}'", (Edit.STRIPPED_QUOTES,)),
        (f"\u201c{KEY}\u201d", (Edit.STRIPPED_QUOTES,)),
        (f'"{KEY}\n"', (Edit.STRIPPED_BLANKS, Edit.STRIPPED_QUOTES)),
    ],
)
def test_what_rides_along_with_a_key_is_taken_off_and_told(raw: str, edits: tuple[Edit, ...]) -> None:
    assert clean_key(raw) == CleanKey(Masked(KEY), edits)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("", KeyProblem.EMPTY),
        ("   ", KeyProblem.EMPTY),
        ("''", KeyProblem.EMPTY),
        ("x" * 4097, KeyProblem.TOO_LONG),
        ("\u00e9" * 2049, KeyProblem.TOO_LONG),
        ("Bearer " + KEY, KeyProblem.BEARER),
        ("bearer\t" + KEY, KeyProblem.BEARER),
        ("Authorization: Bearer " + KEY, KeyProblem.BEARER),
        ("export OPENAI_API_KEY=" + KEY, KeyProblem.ASSIGNMENT),
        ("OPENAI_API_KEY=" + KEY, KeyProblem.ASSIGNMENT),
        ("OPENAI_API_KEY = '" + KEY, KeyProblem.ASSIGNMENT),
        ("KEY=" + KEY, KeyProblem.ASSIGNMENT),
        ("api_key: " + KEY, KeyProblem.ASSIGNMENT),
        ("x-api-key: " + KEY, KeyProblem.ASSIGNMENT),
        ("$env:OPENAI_API_KEY=" + KEY, KeyProblem.ASSIGNMENT),
        ("sk-te\u2026***", KeyProblem.MASKED),
        ("sk-te***cdef", KeyProblem.MASKED),
        ("sk-...cdef", KeyProblem.MASKED),
        ("\u2022\u2022\u2022\u2022cdef", KeyProblem.MASKED),
        ("\u00b7\u00b7\u00b7\u00b7\u00b7\u00b7\u00b7\u00b7cdef", KeyProblem.MASKED),
        ("your-key", KeyProblem.PLACEHOLDER),
        ("YOUR_API_KEY", KeyProblem.PLACEHOLDER),
        ("sk-your-key-here", KeyProblem.PLACEHOLDER),
        ("<your key>", KeyProblem.PLACEHOLDER),
        ("sk-xxx", KeyProblem.PLACEHOLDER),
        ("sk-XXXX-xxxx", KeyProblem.PLACEHOLDER),
        ("${OPENAI_API_KEY}", KeyProblem.PLACEHOLDER),
        ("$OPENAI_API_KEY", KeyProblem.PLACEHOLDER),
        ("changeme", KeyProblem.PLACEHOLDER),
        ("None", KeyProblem.PLACEHOLDER),
        ("sk-test 0123", KeyProblem.INNER_BLANK),
        ("sk-test\n0123", KeyProblem.INNER_BLANK),
        ("sk-test\u200b0123", KeyProblem.INNER_BLANK),
        ("sk-test\u00a00123", KeyProblem.INNER_BLANK),
        ("sk-test\x000123", KeyProblem.CONTROL_CHARACTER),
        ("sk-test\x7f0123", KeyProblem.CONTROL_CHARACTER),
        ("sk-t\u00e9st", KeyProblem.NON_ASCII),
        ("sk\uff0dtest", KeyProblem.NON_ASCII),
        ("\u201csk-test", KeyProblem.NON_ASCII),
        ("sk-\ud800test", KeyProblem.NON_ASCII),
    ],
)
def test_a_key_that_no_client_sends_as_meant_is_refused(raw: str, problem: KeyProblem) -> None:
    assert refusal(raw).problem is problem


def test_the_offending_character_is_named_and_its_place_told() -> None:
    error = refusal(" sk-test\u200b0123")
    assert error.position == 9
    assert error.character == "U+200B ZERO WIDTH SPACE"


@pytest.mark.parametrize(
    "raw",
    [
        "sk-canary 77",
        "Bearer sk-canary-77",
        "OPENAI_API_KEY=sk-canary-77",
        "sk-canary***",
        "sk-canary\u00e9",
        "sk-canary" * 500,
        "<sk-canary>",
    ],
)
def test_a_refused_key_is_not_repeated(raw: str) -> None:
    error = refusal(raw)
    assert "canary" not in f"{error!s} {error!r} {error.args}"


def test_a_clean_key_does_not_print() -> None:
    assert "0123" not in repr(clean_key(KEY))


def test_the_shape_of_a_key_is_its_length_prefix_and_last_four() -> None:
    assert describe(Masked(KEY)) == KeyShape(24, "sk-test-", "cdef")


def test_a_short_key_shows_no_last_four() -> None:
    assert describe(Masked("sk-12345678")) == KeyShape(11, "sk-", "")


def test_a_key_of_twelve_characters_shows_its_last_four() -> None:
    assert describe(Masked("sk-123456789")).last_four == "6789"


def test_an_unknown_beginning_shows_nothing() -> None:
    assert describe(Masked("0123456789abcdef")).prefix == ""


@given(st.one_of(st.text(max_size=60), st.text("sk-Bearer \u200b\n\"'*.<>xX=", max_size=20)))
def test_any_text_gives_a_sendable_key_or_a_refusal(raw: str) -> None:
    try:
        key = clean_key(raw).value.reveal()
    except KeyRefused:
        return
    assert key
    assert all("!" <= char <= "~" for char in key)
