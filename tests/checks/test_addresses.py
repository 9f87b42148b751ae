"""Base URLs as people paste them: what is taken, what is changed, what is refused, and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.addresses import (
    AddressError,
    AddressProblem,
    clean_base_url,
    host_of,
    join_preview,
    models_url,
    origin_of,
    responses_url,
    same_origin,
)
from checks.pasted import Edit

CLEAN = "http://127.0.0.1:8000/v1"


def refusal(raw: str) -> AddressError:
    with pytest.raises(AddressError) as caught:
        clean_base_url(raw)
    return caught.value


@pytest.mark.parametrize(
    "base",
    [
        "http://127.0.0.1:8000",
        "http://127.0.0.1:8000/v1",
        "http://127.0.0.1:8000/api",
        "https://relay.example/api/v1",
        "https://relay.example:8443/v1beta/openai",
        "http://gpu-a12:8000/v1",
        "http://vllm_server:8000/v1",
        "http://[2001:db8::1]:8000/v1",
        "https://relay.example/v1/%E4%BD%A0",
    ],
)
def test_a_clean_base_is_kept_as_it_is(base: str) -> None:
    assert clean_base_url(base).url == base
    assert clean_base_url(base).edits == ()


@pytest.mark.parametrize(
    "base", ["https://relay.example", "https://relay.example/v1", "https://relay.example/api"]
)
def test_a_version_segment_is_neither_added_nor_dropped(base: str) -> None:
    assert clean_base_url(base).url == base


@pytest.mark.parametrize(
    ("raw", "url", "edits"),
    [
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000", (Edit.DROPPED_TRAILING_SLASH,)),
        (CLEAN + "/", CLEAN, (Edit.DROPPED_TRAILING_SLASH,)),
        (CLEAN + "//", CLEAN, (Edit.DROPPED_TRAILING_SLASH,)),
        ("http://127.0.0.1:8000//v1", CLEAN, (Edit.COLLAPSED_SLASHES,)),
        (
            "https://relay.example//api//v1/",
            "https://relay.example/api/v1",
            (Edit.COLLAPSED_SLASHES, Edit.DROPPED_TRAILING_SLASH),
        ),
        (CLEAN + " ", CLEAN, (Edit.STRIPPED_BLANKS,)),
        ("  " + CLEAN, CLEAN, (Edit.STRIPPED_BLANKS,)),
        (CLEAN + "\n", CLEAN, (Edit.STRIPPED_BLANKS,)),
        (CLEAN + "\r\n", CLEAN, (Edit.STRIPPED_BLANKS,)),
        (CLEAN + "\u00a0", CLEAN, (Edit.STRIPPED_BLANKS,)),
        (CLEAN + "\u200b", CLEAN, (Edit.STRIPPED_BLANKS,)),
        ("\ufeff" + CLEAN + "\u3000", CLEAN, (Edit.STRIPPED_BLANKS,)),
        (f'"{CLEAN}"', CLEAN, (Edit.STRIPPED_QUOTES,)),
        (f"'{CLEAN}'", CLEAN, (Edit.STRIPPED_QUOTES,)),
        (f"\u201c{CLEAN}\u201d", CLEAN, (Edit.STRIPPED_QUOTES,)),
        (f"\u2018{CLEAN}\u2019", CLEAN, (Edit.STRIPPED_QUOTES,)),
        (f' "{CLEAN} " ', CLEAN, (Edit.STRIPPED_BLANKS, Edit.STRIPPED_QUOTES)),
        ("HTTPS://relay.example/V1", "https://relay.example/V1", (Edit.LOWER_CASED_SCHEME,)),
        ("https://Relay.Example/v1", "https://relay.example/v1", (Edit.LOWER_CASED_HOST,)),
        ("http://[2001:DB8:0::1]/v1", "http://[2001:db8::1]/v1", (Edit.LOWER_CASED_HOST, Edit.REWROTE_IPV6)),
    ],
)
def test_what_rides_along_is_taken_off_and_told(raw: str, url: str, edits: tuple[Edit, ...]) -> None:
    cleaned = clean_base_url(raw)
    assert (cleaned.url, cleaned.edits) == (url, edits)


@pytest.mark.parametrize(
    "operation", ["chat/completions", "completions", "responses", "embeddings", "models", "messages"]
)
def test_a_pasted_operation_is_cut(operation: str) -> None:
    cleaned = clean_base_url(f"https://relay.example/api/v1/{operation}")
    assert cleaned.url == "https://relay.example/api/v1"
    assert cleaned.edits == (Edit.CUT_OPERATION,)


def test_an_operation_that_a_client_already_doubled_is_cut_twice() -> None:
    cleaned = clean_base_url("https://relay.example/v1/chat/completions/chat/completions/")
    assert cleaned.url == "https://relay.example/v1"


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("", AddressProblem.EMPTY),
        (" \u200b\n", AddressProblem.EMPTY),
        ('""', AddressProblem.EMPTY),
        ("https://relay.example/" + "a" * 2048, AddressProblem.TOO_LONG),
        ("sk-test-0123456789", AddressProblem.KEY_PASTED),
        ("OPENAI_BASE_URL=https://relay.example/v1", AddressProblem.ASSIGNMENT_PASTED),
        ("http://u:p@127.0.0.1:8000/v1", AddressProblem.USER_INFO),
        ("http\uff1a//127.0.0.1:8000/v1", AddressProblem.NON_ASCII),
        ("https://m\u00fcnchen.example/v1", AddressProblem.NON_ASCII),
        ("https://\u6a21\u578b.example/v1", AddressProblem.NON_ASCII),
        ("https://relay.example/v1\x00/x", AddressProblem.CONTROL_CHARACTER),
        ("https://relay.example/\nv1", AddressProblem.CONTROL_CHARACTER),
        ("https://relay.example /v1", AddressProblem.INNER_BLANK),
        ("https://relay\u200b.example/v1", AddressProblem.INNER_BLANK),
        ('"https://relay.example/v1', AddressProblem.FORBIDDEN_CHARACTER),
        ("https://<host>/v1", AddressProblem.FORBIDDEN_CHARACTER),
        ("http:\\\\relay.example\\v1", AddressProblem.FORBIDDEN_CHARACTER),
        ("https://relay.example/http://other.example", AddressProblem.FORBIDDEN_CHARACTER),
        ("relay.example/v1", AddressProblem.MISSING_SCHEME),
        ("localhost:8000/v1", AddressProblem.MISSING_SCHEME),
        ("ftp://relay.example/v1", AddressProblem.UNSUPPORTED_SCHEME),
        ("http:///v1", AddressProblem.NO_HOST),
        ("https://", AddressProblem.NO_HOST),
        ("https://-relay.example/v1", AddressProblem.BAD_HOST),
        ("https://relay..example/v1", AddressProblem.BAD_HOST),
        ("https://relay.example./v1", AddressProblem.BAD_HOST),
        ("http://127.1/v1", AddressProblem.BAD_HOST),
        ("http://0x7f000001/v1", AddressProblem.BAD_HOST),
        ("http://2130706433/v1", AddressProblem.BAD_HOST),
        ("http://0177.0.0.1/v1", AddressProblem.BAD_HOST),
        ("http://::1/v1", AddressProblem.BAD_HOST),
        ("http://[fe80::1%25eth0]/v1", AddressProblem.BAD_HOST),
        ("http://[::ffff:127.0.0.1]/v1", AddressProblem.BAD_HOST),
        ("https://relay.example:0/v1", AddressProblem.BAD_PORT),
        ("https://relay.example:65536/v1", AddressProblem.BAD_PORT),
        ("https://relay.example:/v1", AddressProblem.BAD_PORT),
        ("https://relay.example:http/v1", AddressProblem.BAD_PORT),
        ("https://relay.example/v1?a=1", AddressProblem.QUERY),
        ("https://relay.example/v1#x", AddressProblem.FRAGMENT),
        ("https://relay.example/v1%20", AddressProblem.BAD_ESCAPE),
        ("https://relay.example/v1%0a", AddressProblem.BAD_ESCAPE),
        ("https://relay.example/100%", AddressProblem.BAD_ESCAPE),
        ("https://relay.example/../v1", AddressProblem.DOT_SEGMENT),
    ],
)
def test_what_no_client_takes_as_meant_is_refused_with_its_reason(raw: str, problem: AddressProblem) -> None:
    assert refusal(raw).problem is problem


@pytest.mark.parametrize(
    ("raw", "offer"),
    [
        ("relay.example/v1", "https://relay.example/v1"),
        ("//relay.example/v1", "https://relay.example/v1"),
        ("https:/relay.example/v1", "https://relay.example/v1"),
        ("https//relay.example/v1", "https://relay.example/v1"),
        ("http-relay.example/v1", "https://http-relay.example/v1"),
        ("localhost:8000/v1", "http://localhost:8000/v1"),
        ("127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("10.0.0.7:8000/v1", "http://10.0.0.7:8000/v1"),
        ("[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("gpu-a12:8000/v1", "http://gpu-a12:8000/v1"),
        ("ftp://relay.example/v1", "https://relay.example/v1"),
        ("http\uff1a//relay.example\uff0fv1", "http://relay.example/v1"),
        ("export OPENAI_BASE_URL='https://relay.example/v1/'", "https://relay.example/v1"),
        ("http://u:p@relay.example/v1", "http://relay.example/v1"),
        ("https://relay.example/v1?a=1", "https://relay.example/v1"),
        ("https://relay.example./v1", "https://relay.example/v1"),
        ("http://::1/v1", "http://[::1]/v1"),
        ("http://[::ffff:127.0.0.1]:8000", "http://127.0.0.1:8000"),
    ],
)
def test_a_refusal_offers_what_was_probably_meant(raw: str, offer: str) -> None:
    assert refusal(raw).suggestions == (offer,)


def test_a_full_width_colon_is_pointed_at_and_named() -> None:
    error = refusal(" http\uff1a//relay.example")
    assert error.detail == "«\uff1a» U+FF1A FULLWIDTH COLON"
    assert error.position == 6


def test_a_full_width_slash_is_pointed_at_and_named() -> None:
    assert refusal("https://relay.example\uff0fv1").detail == "«\uff0f» U+FF0F FULLWIDTH SOLIDUS"


def test_an_invisible_character_is_named_and_not_printed() -> None:
    assert refusal("https://relay.example/\u200bv1").detail == "U+200B ZERO WIDTH SPACE"


@pytest.mark.parametrize(
    "raw",
    [
        "https://user:canary-77@relay.example/v1",
        "https://canary-77@relay.example/v1",
        "canary-77:x@relay.example/v1",
        "https://user:canary-77",
        "https://relay.example/v1?api_key=canary-77",
        "https://relay.example/v1#canary-77",
        "sk-canary-77",
    ],
)
def test_no_password_query_or_key_is_repeated(raw: str) -> None:
    error = refusal(raw)
    assert "canary" not in f"{error!s} {error!r} {error.detail} {error.suggestions}"


def test_a_port_that_is_none_is_shown() -> None:
    assert refusal("https://relay.example:70000").detail == "«:70000»"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Relay.Example:443/v1", "https://relay.example"),
        ("http://relay.example:80", "http://relay.example"),
        ("https://relay.example:80/v1", "https://relay.example:80"),
        ("http://[2001:DB8::0:1]:8000/v1", "http://[2001:db8::1]:8000"),
    ],
)
def test_an_origin_is_lower_case_and_without_its_default_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin
    assert clean_base_url(url).origin == origin


def test_an_origin_never_repeats_a_user_name() -> None:
    with pytest.raises(AddressError) as caught:
        origin_of("http://canary-77@relay.example")
    assert "canary" not in str(caught.value)


def test_a_changed_path_keeps_the_origin() -> None:
    assert same_origin("https://relay.example/v1", "https://relay.example:443/api")


@pytest.mark.parametrize(
    "other", ["http://relay.example", "https://relay.example:8443", "https://x.relay.example"]
)
def test_a_changed_scheme_port_or_host_is_another_origin(other: str) -> None:
    assert not same_origin("https://relay.example", other)


def test_the_host_of_a_url_has_no_brackets() -> None:
    assert host_of("http://[::1]:8000/v1") == "::1"


def test_every_client_appends_its_operation_to_a_clean_base_and_nothing_more() -> None:
    urls = {joined.url for joined in join_preview("https://relay.example/api")}
    assert urls == {"https://relay.example/api/chat/completions"}


def test_the_preview_tells_clients_apart_where_a_base_ends_in_slashes() -> None:
    joined = {preview.client: preview.url for preview in join_preview("http://h/v1//")}
    assert joined == {
        "OpenAI SDK": "http://h/v1//chat/completions",
        "LangChain ChatOpenAI": "http://h/v1//chat/completions",
        "litellm": "http://h/v1//chat/completions",
        "Agent-Lightning 1.x gateway": "http://h/v1/chat/completions",
        "curl": "http://h/v1///chat/completions",
    }


def test_one_trailing_slash_harms_curl_alone() -> None:
    joined = {preview.client: preview.url for preview in join_preview("http://h/v1/")}
    assert {client for client, url in joined.items() if "//chat" in url} == {"curl"}


def test_the_other_operations_hang_on_the_base_alike() -> None:
    assert models_url("http://h/v1") == "http://h/v1/models"
    assert responses_url("http://h/v1") == "http://h/v1/responses"


PIECES = (
    *(
        "http",
        "https",
        "://",
        ":",
        "/",
        "//",
        "@",
        "a.example",
        "A",
        "[::1]",
        "127.0.0.1",
        "localhost",
        ":80",
    ),
    *("?", "#", "=", "%", "%20", "..", ".", "v1", "chat/completions", "\uff1a", "\u200b", "\u00a0", " ", '"'),
    *("'", "\u201c", "\u201d", "export ", "KEY=", "sk-", "\n", "\\", "\ud800", "\u00fc", "[", "]"),
)


def outcome(raw: str) -> tuple[str, ...]:
    """What a text leads to: its clean form, or the offers of its refusal."""
    try:
        return (clean_base_url(raw).url,)
    except AddressError as error:
        return error.suggestions


@given(st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text(max_size=40)))
def test_any_text_is_cleaned_for_good_or_refused_with_offers_that_hold(raw: str) -> None:
    for url in outcome(raw):
        assert clean_base_url(url).url == url
        assert clean_base_url(url).edits == ()
        assert url.isascii()


@pytest.mark.parametrize("piece", ["a=", "http:/", "a://", "x@", "?", ".", "\uff1a", "/models", "export "])
def test_a_long_chain_of_one_mistake_ends(piece: str) -> None:
    assert len(outcome("http://a" + piece * 250)) <= 1
