"""The files: loaded by real readers, free of keys where none were asked for, harmless whatever is named."""

from __future__ import annotations

import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from checks.dialects import READERS, Rule, Unwritable
from checks.spec import Masked
from panel.exports.formats import FORMATS, MARK, masked_preview
from panel.exports.variables import variable_blocks
from tests.checks.dialects.real_readers import CLEAN_ENVIRONMENT, by_dotenv, by_node, program, sourced
from tests.panel.exports.make_bundle import AGENT, AGENT_KEY, GATEWAY, REPLAY, ROLLOUT, make_bundle

FULL = make_bundle(AGENT, REPLAY, ROLLOUT)
MEANT = {entry.name: entry.text() for block in variable_blocks(FULL) for entry in block.entries}
FLAVOURS = sorted(FORMATS)


@pytest.mark.parametrize("shell", ["bash", "dash"])
@pytest.mark.parametrize("flavour", ["dotenv", "sh", "line"])
def test_a_shell_that_sources_the_file_has_exactly_its_variables(
    flavour: str, shell: str, tmp_path: Path
) -> None:
    read = sourced(shell, FORMATS[flavour].render(FULL), tmp_path)
    assert {name: value.rstrip(",") for name, value in read.items()} == MEANT


@pytest.mark.parametrize("flavour", ["dotenv", "line"])
def test_python_dotenv_reads_exactly_its_variables(flavour: str) -> None:
    assert by_dotenv(FORMATS[flavour].render(FULL)) == MEANT


def test_python_dotenv_reads_even_the_file_for_shells() -> None:
    read = by_dotenv(FORMATS["sh"].render(FULL))
    assert {name: (value or "").rstrip(",") for name, value in read.items()} == MEANT


def test_node_reads_exactly_its_variables(tmp_path: Path) -> None:
    assert by_node(FORMATS["dotenv"].render(FULL), tmp_path) == MEANT


@pytest.mark.parametrize("flavour", ["dotenv", "sh", "line"])
def test_our_own_reader_reads_exactly_its_variables(flavour: str) -> None:
    read = READERS[flavour](FORMATS[flavour].render(FULL))
    assert {entry.name: entry.text() for entry in read} == MEANT


def extended(file: str, before: str, folder: Path) -> str:
    (folder / "file").write_text(file)
    script = f'set -eu; {before} . ./file; printf "%s;%s" "$NO_PROXY" "$no_proxy"'
    done = subprocess.run(
        [program("dash"), "-c", script], cwd=folder, env=CLEAN_ENVIRONMENT, capture_output=True, check=True
    )
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("before", "upper", "lower"),
    [
        ("", "", ","),
        ("NO_PROXY=corp.example;", "corp.example", ",corp.example"),
        ("no_proxy=corp.example;", "", "corp.example,"),
        ("NO_PROXY=a.example; no_proxy=b.example;", "a.example", "b.example,a.example"),
    ],
)
def test_a_shell_keeps_what_it_called_without_a_proxy_before(
    before: str, upper: str, lower: str, tmp_path: Path
) -> None:
    own = "127.0.0.1,localhost,::1,gpu-a12"
    assert extended(FORMATS["sh"].render(FULL), before, tmp_path) == f"{own},{upper};{own},{lower}"


def test_toml_with_keys_says_what_each_lane_calls() -> None:
    assert tomllib.loads(FORMATS["toml"].render(FULL)) == {
        "llm": {
            "base_url": "https://relay.example/v1",
            "model": "deepseek-v3.2",
            "litellm_model": "openai/deepseek-v3.2",
            "api_key": AGENT_KEY,
        },
        "replay": {
            "base_url": "https://other.example/api/v1",
            "model": "Qwen/Qwen2.5-7B-Instruct",
            "litellm_model": "openai/Qwen/Qwen2.5-7B-Instruct",
            "api_key": "sk-canary-replay-0002",
        },
        "rollout": {
            "base_url": "http://gpu-a12:8000/v1",
            "model": "Qwen/Qwen3-8B",
            "litellm_model": "openai/Qwen/Qwen3-8B",
        },
    }


def test_toml_without_keys_names_the_variables_that_hold_them() -> None:
    keyed_rollout = replace(ROLLOUT, needs_key=True, key_name="v1")
    tables = tomllib.loads(FORMATS["toml"].render(make_bundle(AGENT, REPLAY, keyed_rollout, with_keys=False)))
    assert {name: table["api_key_env"] for name, table in tables.items()} == {
        "llm": "OPENAI_API_KEY",
        "replay": "PREFLIGHT_REPLAY_API_KEY",
        "rollout": "PREFLIGHT_ROLLOUT_API_KEY",
    }


def test_toml_lanes_of_one_channel_share_its_variable() -> None:
    same = replace(AGENT, kind=REPLAY.kind, model="other-model")
    tables = tomllib.loads(FORMATS["toml"].render(make_bundle(AGENT, same, with_keys=False)))
    assert tables["replay"]["api_key_env"] == "OPENAI_API_KEY"


def test_toml_of_the_new_generation_has_an_upstream_and_the_gateways_key() -> None:
    bundle = make_bundle(GATEWAY, REPLAY, generation="1.x", with_keys=False)
    tables = tomllib.loads(FORMATS["toml"].render(bundle))
    assert tables.keys() == {"llm", "upstream"}
    assert tables["llm"]["api_key_env"] == "AGL_KEY"


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_file_without_keys_holds_no_byte_of_one(flavour: str) -> None:
    keyed_rollout = replace(ROLLOUT, needs_key=True, key_name="v1", key=Masked("sk-canary-rollout-0003"))
    bundle = make_bundle(AGENT, REPLAY, keyed_rollout, with_keys=False)
    for text in (FORMATS[flavour].render(bundle), masked_preview(bundle, flavour), repr(bundle)):
        assert "canary" not in text


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_preview_is_the_file_with_marks_for_its_keys(flavour: str) -> None:
    file, preview = FORMATS[flavour].render(FULL), masked_preview(FULL, flavour)
    assert "canary" not in preview
    assert f"{MARK}0001" in preview
    marked = file.replace(AGENT_KEY, f"{MARK}0001").replace("sk-canary-replay-0002", f"{MARK}0002")
    assert preview == marked


@pytest.mark.parametrize("key", ["sk-canary'77$x", "sk-canary\\77'x", 'sk-canary"77\\x', "sk'7", "'"])
@pytest.mark.parametrize("flavour", ["sh", "toml", "line"])
def test_a_preview_shows_nothing_of_a_key_however_it_is_spelled(flavour: str, key: str) -> None:
    preview = masked_preview(make_bundle(replace(AGENT, key=Masked(key))), flavour)
    assert MARK in preview
    assert "canary" not in preview
    assert "sk'" not in preview


def test_a_key_that_dotenv_cannot_carry_is_refused_with_the_flavours_that_can() -> None:
    bundle = make_bundle(replace(AGENT, key=Masked("sk-canary-$77")))
    with pytest.raises(Unwritable) as caught:
        FORMATS["dotenv"].render(bundle)
    assert (caught.value.variable, caught.value.rule) == ("OPENAI_API_KEY", Rule.DOLLAR_OR_BACKSLASH)
    assert caught.value.carried_by == ("sh", "toml", "line")
    assert "canary" not in str(caught.value)


def test_without_keys_such_a_key_stands_in_no_ones_way() -> None:
    bundle = make_bundle(replace(AGENT, key=Masked("sk-canary-$77")), with_keys=False)
    assert FORMATS["dotenv"].render(bundle)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_no_name_that_a_person_gives_becomes_a_variable(flavour: str, tmp_path: Path) -> None:
    evil = "x\nEVIL=1\nexport EVIL=1\r\n$(touch evil)`touch evil`"
    lanes = tuple(replace(lane, endpoint_name=evil, key_name=evil) for lane in (AGENT, REPLAY, ROLLOUT))
    bundle = replace(make_bundle(*lanes, profile=evil), team=evil)
    text = FORMATS[flavour].render(bundle)
    assert not [line for line in text.split("\n") if line.lstrip("export ").startswith("EVIL")]
    if flavour != "toml":
        assert "EVIL" not in sourced("bash", text, tmp_path)
        assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_file_begins_with_what_it_is_and_what_speaks_for_it(flavour: str) -> None:
    unproven = replace(REPLAY, proof=None)
    lines = FORMATS[flavour].render(make_bundle(AGENT, unproven)).split("\n")
    assert lines[:4] == [
        "# Preflight bundle: search-agent v31 (b2c3d4f5), team Atlas",
        "# Agent-Lightning 0.x; made 2026-11-30 14:30+08:00, with keys: keep it to yourself (chmod 600)",
        "# Evidence, agent: run k3mz9xw2pq, 2026-11-30 06:25+00:00, ok",
        "# Evidence, replay: none, this lane never ran",
    ]


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_every_file_is_ascii_with_unix_lines(flavour: str) -> None:
    text = FORMATS[flavour].render(make_bundle(AGENT, profile="\u8bad\u7ec3"))
    assert text.isascii()
    assert "\r" not in text


@pytest.mark.parametrize(
    ("profile", "name"),
    [
        ("search-agent", "search-agent.v31.env"),
        ("Search agent (new)", "Search-agent-new.v31.env"),
        ("../../etc/passwd", "etc-passwd.v31.env"),
        ('a"b\r\nX: y', "a-b-X-y.v31.env"),
        ("\u8bad\u7ec3", "b2c3d4f5.v31.env"),
    ],
)
def test_a_file_name_is_safe_wherever_it_is_saved(profile: str, name: str) -> None:
    assert FORMATS["dotenv"].file_name(make_bundle(profile=profile)) == name


def test_no_two_flavours_share_a_file_name() -> None:
    assert len({form.file_name(FULL) for form in FORMATS.values()}) == len(FORMATS)
