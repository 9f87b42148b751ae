"""The spelling of each flavour, what it refuses, and who can carry it instead."""

from __future__ import annotations

import pytest

from checks.dialects import (
    READERS,
    WRITERS,
    Block,
    Document,
    Entry,
    Rule,
    Unreadable,
    Unwritable,
    carriers,
    write,
)
from checks.spec import Masked

LINES = ("dotenv", "sh", "line")


def one(flavour: str, value: str | Masked, name: str = "K") -> str:
    return write(flavour, Document((Block((Entry(name, value),)),)))


def refusal(flavour: str, value: str) -> Unwritable:
    with pytest.raises(Unwritable) as caught:
        one(flavour, value)
    return caught.value


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        ("sk-test-0123_abc", "K=sk-test-0123_abc\n"),
        ("https://relay.example:8443/v1", "K=https://relay.example:8443/v1\n"),
        ("openai/Qwen/Qwen2.5-7B-Instruct", "K=openai/Qwen/Qwen2.5-7B-Instruct\n"),
        ("127.0.0.1,localhost,::1", "K=127.0.0.1,localhost,::1\n"),
        ("abc==", "K=abc==\n"),
        ("=abc", "K='=abc'\n"),
        ("a:=b", "K='a:=b'\n"),
        ("a b", "K='a b'\n"),
        ("a#b", "K='a#b'\n"),
        ("~a", "K='~a'\n"),
        ('a"b', "K='a\"b'\n"),
        ("it's", 'K="it\'s"\n'),
        ("", "K=''\n"),
    ],
)
def test_dotenv_is_bare_then_single_then_double_quoted(value: str, spelled: str) -> None:
    assert one("dotenv", value) == spelled


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("a\\b", Rule.DOLLAR_OR_BACKSLASH),
        ("a$b", Rule.DOLLAR_OR_BACKSLASH),
        ('it\'s "so"', Rule.MIXED_QUOTES),
        ("it's `so`", Rule.MIXED_QUOTES),
        ("'a'", Rule.WRAPPED_IN_QUOTES),
        ('"a"', Rule.WRAPPED_IN_QUOTES),
        ("`a`", Rule.WRAPPED_IN_QUOTES),
    ],
)
def test_what_dotenv_readers_disagree_on_is_refused_and_the_others_named(value: str, rule: Rule) -> None:
    error = refusal("dotenv", value)
    assert (error.variable, error.flavour, error.rule) == ("K", "dotenv", rule)
    assert error.carried_by == ("sh", "toml", "line")


def test_shell_chunks_put_quotes_and_backslashes_in_double_quotes() -> None:
    assert one("sh", "a'b\\c") == """export K='a'"'"'b'"\\\\"'c'\n"""


def test_an_empty_value_is_spelled_for_a_shell() -> None:
    assert one("sh", "") == "export K=''\n"


def test_a_list_is_added_to_what_the_shell_has() -> None:
    block = Block((Entry("no_proxy", "a,b", extends=("no_proxy", "NO_PROXY")),))
    text = write("sh", Document((block,)))
    assert text == 'export no_proxy="a,b,${no_proxy-},${NO_PROXY-}"\n'
    assert [(entry.name, entry.text()) for entry in READERS["sh"](text)] == [("no_proxy", "a,b")]


@pytest.mark.parametrize("flavour", ["dotenv", "line", "toml"])
def test_a_list_stands_alone_where_nothing_can_be_added(flavour: str) -> None:
    block = Block((Entry("NO_PROXY", "a,b", extends=("NO_PROXY",)),))
    assert "{" not in write(flavour, Document((block,)))


def test_a_list_that_a_shell_would_read_on_stands_alone_in_quotes() -> None:
    block = Block((Entry("NO_PROXY", "a,$(id)", extends=("NO_PROXY",)),))
    assert write("sh", Document((block,))) == "export NO_PROXY='a,$(id)'\n"


def test_the_line_flavour_puts_no_quotes() -> None:
    assert one("line", "a 'b' $c") == "K=a 'b' $c\n"


@pytest.mark.parametrize("flavour", LINES)
@pytest.mark.parametrize("char", ["\0", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\u2028", "\u2029"])
def test_no_line_flavour_carries_a_control_character(flavour: str, char: str) -> None:
    error = refusal(flavour, f"a{char}OTHER=b")
    assert error.rule is Rule.CONTROL_CHARACTER
    assert error.carried_by == ("toml",)


@pytest.mark.parametrize("flavour", sorted(WRITERS))
def test_no_flavour_carries_half_a_character(flavour: str) -> None:
    error = refusal(flavour, "a\ud800")
    assert (error.rule, error.carried_by) == (Rule.SURROGATE, ())


@pytest.mark.parametrize("flavour", LINES)
def test_a_value_that_docker_would_choke_on_is_refused(flavour: str) -> None:
    assert refusal(flavour, "a" * (60 * 1024 + 1)).rule is Rule.TOO_LONG


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A B", "A=B", "\u00c4", "A\nB"])
def test_a_name_that_is_no_variable_is_refused(name: str) -> None:
    with pytest.raises(Unwritable) as caught:
        one("line", "a", name)
    assert caught.value.rule is Rule.BAD_NAME


def test_a_refusal_does_not_repeat_the_value() -> None:
    error = refusal("dotenv", "sk-canary-$77")
    assert "canary" not in f"{error!s} {error!r} {error.__cause__!r} {error.__context__!r}"


def test_an_entry_does_not_print_its_value() -> None:
    assert "canary" not in repr(Entry("K", "sk-canary-77"))


@pytest.mark.parametrize("flavour", sorted(WRITERS))
def test_a_name_twice_is_an_error(flavour: str) -> None:
    document = Document((Block((Entry("K", "a"),)), Block((Entry("K", "b"),))))
    with pytest.raises(ValueError, match="K"):
        write(flavour, document)


@pytest.mark.parametrize("flavour", sorted(WRITERS))
def test_a_comment_cannot_become_a_variable(flavour: str) -> None:
    block = Block((Entry("K", "a"),), ("name\nEVIL=1\r\n\u2028export EVIL=1",))
    text = write(flavour, Document((block,), ("head\nEVIL=1",)))
    assert [entry.name for entry in READERS[flavour](text)] == ["K"]


@pytest.mark.parametrize("flavour", sorted(WRITERS))
def test_a_comment_is_ascii_and_does_not_end_in_a_backslash(flavour: str) -> None:
    text = write(flavour, Document((Block((Entry("K", "a"),)),), ("\u56e2\u961f team \\ \\",)))
    assert text.startswith("# \\u56e2\\u961f team\n")


@pytest.mark.parametrize("flavour", sorted(WRITERS))
def test_a_file_ends_in_one_newline_and_has_no_trailing_blanks(flavour: str) -> None:
    text = write(flavour, Document((Block((Entry("K", "a"),), ("",)), Block((Entry("L", "b"),))), ("head ",)))
    assert text.endswith("\n")
    assert all(line == line.rstrip() for line in text.split("\n"))


@pytest.mark.parametrize("flavour", sorted(WRITERS))
def test_a_secret_is_written_but_may_be_shown_otherwise(flavour: str) -> None:
    document = Document((Block((Entry("K", Masked("sk-canary-77")),)),))
    assert "sk-canary-77" in write(flavour, document)
    shown = write(flavour, document, lambda _, spelling: spelling.replace("sk-canary-77", "...."))
    assert shown == write(flavour, document).replace("sk-canary-77", "....")


@pytest.mark.parametrize("value", ["sk-test-0123", "https://relay.example/v1", "a,b", "a=b%c+d@e"])
def test_a_bare_value_is_carried_by_every_flavour(value: str) -> None:
    assert carriers(value) == tuple(WRITERS)


@pytest.mark.parametrize(
    ("flavour", "text", "line"),
    [
        ("dotenv", "A=1\nB = 2\n", 2),
        ("dotenv", "export A=1\n", 1),
        ("dotenv", "A='x\n", 1),
        ("dotenv", "A=a b\n", 1),
        ("sh", "A='1'\n", 1),
        ("sh", "export A=1\n", 1),
        ("sh", "export A='1';true\n", 1),
        ("line", "# head\n\nprose\n", 3),
        ("line", "A-B=1\n", 1),
        ("toml", "A = \n", 1),
        ("toml", "A = 1\n", 1),
    ],
)
def test_a_text_of_another_dialect_is_refused_with_its_line(flavour: str, text: str, line: int) -> None:
    with pytest.raises(Unreadable) as caught:
        READERS[flavour](text)
    assert caught.value.line == line


def test_toml_tables_are_read_by_their_full_names() -> None:
    block = Block((Entry("base_url", "https://relay.example/v1"),), table="llm")
    read = READERS["toml"](write("toml", Document((block,))))
    assert [(entry.name, entry.text()) for entry in read] == [("llm.base_url", "https://relay.example/v1")]
