"""Every flavour is read back to the letter by the programs it is meant for."""

from __future__ import annotations

import tomllib
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.dialects import READERS, Block, Document, Entry, carriers, write
from tests.checks.dialects.real_readers import by_dotenv, by_node, sourced

PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
SPECIAL = " !\"#$&'()*,:;<=>?@[\\]^`{|}~%+-a"
PAIRS = [a + b for a, b in product(SPECIAL, repeat=2)] + [f"x{a}y{b}z" for a, b in product(SPECIAL, repeat=2)]
TRICKY = st.one_of(
    st.text(PRINTABLE, max_size=24),
    st.text(SPECIAL, max_size=8),
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=12),
    st.sampled_from(
        [" a", "a ", "#a", "a #b", "=a", "a:=b", "\u00a0a\u00a0", "\U0001f600", "export A=b", "-n"]
    ),
)
# Each example starts a process that reads a whole file of values, so few examples test much.
whole_files = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
batches = st.lists(TRICKY, min_size=30, max_size=150)


def file_of(flavour: str, values: list[str]) -> tuple[str, dict[str, str]]:
    """A file of those values that the flavour carries, and what it must be read as."""
    carried = {f"V{number}": value for number, value in enumerate(values) if flavour in carriers(value)}
    entries = tuple(Entry(name, value) for name, value in carried.items())
    return write(flavour, Document((Block(entries, ("values",)),), ("head",))), carried


@pytest.mark.parametrize("flavour", ["dotenv", "sh"])
@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_a_shell_reads_every_pair_of_signs(flavour: str, shell: str, tmp_path: Path) -> None:
    text, carried = file_of(flavour, PAIRS)
    assert sourced(shell, text, tmp_path) == carried


@pytest.mark.parametrize("flavour", ["dotenv", "sh"])
@pytest.mark.parametrize("shell", ["bash", "dash"])
@given(values=batches)
@whole_files
def test_a_shell_reads_any_value(values: list[str], flavour: str, shell: str, tmp_path: Path) -> None:
    text, carried = file_of(flavour, values)
    assert sourced(shell, text, tmp_path) == carried


def test_node_reads_every_pair_of_signs(tmp_path: Path) -> None:
    text, carried = file_of("dotenv", PAIRS)
    assert by_node(text, tmp_path) == carried


@given(values=batches)
@whole_files
def test_node_reads_any_value(values: list[str], tmp_path: Path) -> None:
    text, carried = file_of("dotenv", values)
    assert by_node(text, tmp_path) == carried


def test_python_dotenv_reads_every_pair_of_signs() -> None:
    text, carried = file_of("dotenv", PAIRS)
    assert by_dotenv(text) == carried


@given(st.lists(TRICKY, max_size=20))
@settings(deadline=None)
def test_python_dotenv_reads_any_value(values: list[str]) -> None:
    text, carried = file_of("dotenv", values)
    assert by_dotenv(text) == carried


@given(st.lists(st.one_of(TRICKY, st.text(max_size=20)), max_size=20))
@settings(deadline=None)
def test_the_standard_toml_parser_reads_any_text(values: list[str]) -> None:
    entries = tuple(Entry(f"v{number}", value) for number, value in enumerate(values))
    text = write("toml", Document((Block(entries, table="llm"),)))
    assert tomllib.loads(text) == {"llm": {entry.name: entry.value for entry in entries}}


@pytest.mark.parametrize("flavour", ["dotenv", "sh", "line", "toml"])
@given(values=st.lists(TRICKY, max_size=20))
@settings(deadline=None)
def test_our_own_reader_reads_what_our_writer_wrote(values: list[str], flavour: str) -> None:
    text, carried = file_of(flavour, values)
    assert {entry.name: entry.text() for entry in READERS[flavour](text)} == carried


def test_the_line_flavour_is_the_value_to_the_letter() -> None:
    text, carried = file_of("line", PAIRS)
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    assert lines == [f"{name}={value}" for name, value in carried.items()]
    assert len(carried) == len(PAIRS)


def test_shells_and_lines_carry_every_printable_value() -> None:
    assert all({"sh", "line", "toml"} <= set(carriers(value)) for value in [*PAIRS, PRINTABLE])
