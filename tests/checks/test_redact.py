"""What the mask must take out, and what it must leave alone."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.outcome import Evidence, Failure, FailureKind
from checks.redact import MASK, Redactor, redact, redact_evidence
from checks.spec import Masked

KEY = "sk-canary-a/b+c=Zq81\"x'7f3e9d"


def masked(text: str, key: str = KEY) -> str:
    return redact(text, [Masked(key)])


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        quote(KEY, safe=""),
        quote(KEY, safe="").replace("%2B", "%2b").replace("%2F", "%2f").replace("%3D", "%3d"),
        json.dumps(KEY),
        json.dumps(KEY).replace("/", "\\/"),
        repr(KEY),
        KEY.encode().hex(),
        KEY.replace('"', "&quot;").replace("'", "&#x27;"),
    ],
)
def test_a_key_is_masked_in_each_form_it_is_written_in(written: str) -> None:
    text = masked(f"refused {written} here")
    assert MASK in text
    assert "a/b" not in text
    assert "7f3e9d" not in text


@pytest.mark.parametrize("before", ["", "u:", "user:", "Bearer "])
def test_a_key_is_masked_inside_base64_at_each_alignment(before: str) -> None:
    key = "canary0123456789abcdefghij"
    encoded = base64.b64encode((before + key + "tail").encode()).decode()
    shown = masked(f"header {encoded} refused", key)
    assert MASK in shown
    assert len(shown.split()[1].replace(MASK, "")) <= len(encoded) - 32


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60))
def test_no_key_of_printable_ascii_survives_in_json(key: str) -> None:
    shown = masked(json.dumps({"error": f"<{key}>"}), key)
    assert key not in shown.replace(MASK, "\0")


def test_a_password_in_a_url_is_masked_without_being_known() -> None:
    assert redact("GET http://user:hunter2@relay.example/v1", []) == f"GET http://{MASK}@relay.example/v1"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdef0123456789",
        "authorization: basic dXNlcjpodW50ZXIy",
        "Incorrect API key provided: sk-proj-abcdefgh12345678",
        "token eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "GET /v1/models?api_key=abcdef012345",
        '{"api_key": "0123456789abcdef0123"}',
        "hf_abcdefghijklmnopqrstuvwx",
    ],
)
def test_what_has_the_shape_of_a_key_is_masked_without_being_known(text: str) -> None:
    shown = redact(text, [])
    assert MASK in shown
    assert not any(part in shown for part in ("abcdef0", "dXNlcj", "abcdefgh", "eyJzdWI", "0123456789"))


@pytest.mark.parametrize(
    "text",
    [
        "risk-assessment-model-large answered",
        "max_tokens must be at least 1",
        "https://relay.example/v1/chat/completions",
        "Incorrect API key provided: sk-****9d1c. Find yours at https://relay.example/keys",
        "task-scheduling is off",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text, [Masked("sk-canary-0123456789")]) == text


def test_a_tail_longer_than_four_behind_a_mask_is_shortened() -> None:
    assert masked("key sk-***456789 refused", "sk-canary-0123456789") == f"key sk-***{MASK}6789 refused"


def test_a_key_cut_by_a_cap_is_masked() -> None:
    assert masked("... provided: sk-canary-01234", "sk-canary-0123456789") == f"... provided: {MASK}"


def test_a_short_key_is_masked_only_where_it_stands_alone() -> None:
    assert masked("EMPTY refused, EMPTYING on", "EMPTY") == f"{MASK} refused, EMPTYING on"


def test_a_key_of_three_characters_is_no_secret() -> None:
    assert masked("abc in abcdef", "abc") == "abc in abcdef"


def test_evidence_is_masked_in_every_field() -> None:
    key = "canary-0123456789"
    evidence = Evidence(
        url=f"http://relay.example/{key}",
        headers={"x-echo": key, key: "1"},
        body=key,
        failure=Failure(FailureKind.PROTOCOL, f"bad {key}", chain=(("ValueError", key),)),
        context={"deep": {"er": [key, (key, 3)]}, "key": Masked(key)},
    )
    shown = redact_evidence(evidence, [Masked(key)])
    assert key not in repr(shown)
    assert shown.failure is not None
    assert shown.failure.kind is FailureKind.PROTOCOL


def test_unsafe_characters_are_written_as_escapes() -> None:
    assert redact("a\0b\x1bc\x9bd\u202ee\ud800f\n\t中", []) == "a\\x00b\\x1bc\\x9bd\\u202ee\ufffdf\n\t中"


@given(st.text(min_size=4, max_size=40))
def test_no_key_of_any_characters_survives_or_raises(key: str) -> None:
    shown = redact(f"<{key}>", [Masked(key)])
    shown.encode()
    assert key not in shown or key in MASK


def test_a_key_with_an_unsafe_character_is_masked_whole() -> None:
    assert redact("<canary-0123\x1b4567>", [Masked("canary-0123\x1b4567")]) == f"<{MASK}>"


def test_a_redactor_does_not_show_what_it_hides() -> None:
    assert "canary" not in repr(Redactor([Masked("canary-0123456789")]))
