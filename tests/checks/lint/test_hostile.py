"""Whatever a file holds: nothing is raised, nothing takes long, and no key is shown."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.lint import MAX_FILE_BYTES, lint, readers, say

NAMES = (".env", "env", "a.sh", "a.fish", "a.yaml", "a.toml", "a.json", "settings.json", "compose.yaml", "x")
CANARY = "sk-canary-7Qm2xLw9Rt4Zp8Kd"
PIECES = st.sampled_from(
    [
        *(
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "NO_PROXY",
            "HTTP_PROXY",
            "model",
            "api_key",
            "base_url",
            "env",
        ),
        *(
            "=",
            ": ",
            "'",
            '"',
            "`",
            "\\",
            "$",
            "${",
            "#",
            " #",
            "\n",
            "\r",
            "\t",
            " ",
            "{",
            "}",
            "[",
            "]",
            ",",
        ),
        *(
            "- ",
            "&a ",
            "*a",
            "<<: ",
            "|\n",
            "export ",
            "http://",
            "localhost",
            ":8000",
            "/v1",
            "@",
            "%",
            "\ufeff",
        ),
        *(
            "model_list:\n- ",
            "services:\n a:\n  environment:\n",
            "\u200b",
            "\uff1d",
            "\u201c",
            CANARY,
            "azure/",
        ),
    ]
)
WORDS = st.lists(PIECES, max_size=40).map("".join)
HUGE = {
    "brackets": b"[" * MAX_FILE_BYTES,
    "quotes": b'A="\n' * (MAX_FILE_BYTES // 4),
    "lines": b"OPENAI_BASE_URL=http://a:1\n" * 38_000,
    "aliases": b"a: &a [x]\n" + b"b: [*a,*a,*a]\n" * 70_000,
    "dots": b"a" + b".a" * 200_000 + b"=1",
    "escapes": b'A="' + b'\\"' * 500_000,
    "nothing": b"\0" * MAX_FILE_BYTES,
}


@settings(deadline=None)
@given(data=st.binary(max_size=400), name=st.one_of(st.sampled_from(NAMES), st.text(max_size=20)))
def test_any_bytes_under_any_name_are_judged(data: bytes, name: str) -> None:
    for finding in lint(data, name=name):
        assert say(finding, "en")
        assert say(finding, "zh")


@given(text=WORDS, name=st.sampled_from(NAMES), reader=st.sampled_from([None, *readers()]))
@settings(max_examples=200, deadline=None)
def test_pieces_of_configurations_in_any_order_are_judged(text: str, name: str, reader: str | None) -> None:
    for finding in lint(text.encode("utf-8", "surrogatepass"), name=name, reader=reader):
        shown = say(finding, "en") + say(finding, "zh") + finding.key + "".join(finding.facts.values())
        assert "7Qm2xLw9Rt4Zp8Kd" not in shown


@pytest.mark.parametrize("kind", HUGE)
def test_a_huge_file_is_judged_in_good_time(kind: str) -> None:
    for name in (".env", "a.yaml", "a.toml", "a.json"):
        start = time.monotonic()
        lint(HUGE[kind][: MAX_FILE_BYTES // 4], name=name)
        assert time.monotonic() - start < 5, name


def test_a_file_that_is_too_large_is_not_read() -> None:
    (found,) = lint(b"A" * (MAX_FILE_BYTES + 1), name=".env")
    assert (found.rule, found.code) == ("file_too_large", "config_syntax")


@pytest.mark.parametrize(
    "line",
    [
        f"OPENAI_BASE_URL={CANARY}",
        f"OPENAI_BASE_URL={CANARY}.{CANARY}",
        f"OPENAI_BASE_URL=https://{CANARY}@relay.example/v1",
        f"OPENAI_BASE_URL=http://relay.example/{CANARY}",
        f"OPENAI_BASE_URL=http://api.deepseek.com/{CANARY}",
        f"{CANARY}=1",
        f"OPENAI_API_KEY=Bearer {CANARY}\u200b",
        f"OPENAI_MODEL={CANARY}",
        f"LITELLM_MODEL={CANARY}/x",
        f"NO_PROXY={CANARY}*,{CANARY}/8",
        f"HTTP_PROXY={CANARY}://a",
        f"export {CANARY}",
    ],
)
def test_a_key_in_any_place_is_never_shown(line: str) -> None:
    for reader in (None, "docker", "openai", "litellm"):
        for finding in lint(f"{line}\n".encode(), name=".env", reader=reader):
            assert "7Qm2xLw9Rt4Zp8Kd" not in say(finding) + say(finding, "zh") + finding.key + repr(finding)
