"""Settings are found with their lines in every format, and what ends a parser is named."""

from __future__ import annotations

import pytest

from checks.lint import lint, lint_files
from checks.lint.sheet import Format, Sheet
from checks.lint.sheets import read_sheet

PASTED = "https://relay.example/v1/chat/completions"


def sheet(text: str, name: str) -> Sheet:
    return read_sheet(text.encode(), name, None)


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        (".env", "", Format.DOTENV),
        ("prod.env.local", "", Format.DOTENV),
        ("env", "", Format.DOTENV),
        (".bashrc", "", Format.SHELL),
        (".envrc", "", Format.SHELL),
        ("conf.fish", "", Format.FISH),
        ("settings", '{"a": 1}', Format.JSON),
        ("settings", "[a]\nb = 1\n", Format.TOML),
        ("settings", "a:\n  b: 1\n", Format.YAML),
        ("settings", "export A=1\n", Format.DOTENV),
        ("settings", "#!/bin/sh\nA=1\n", Format.SHELL),
    ],
)
def test_the_format_is_told_by_name_or_by_the_first_lines(name: str, text: str, form: Format) -> None:
    assert sheet(text, name).format is form


@pytest.mark.parametrize(
    ("name", "text", "line", "key"),
    [
        ("c.yaml", f"# note\nllm:\n  base_url: {PASTED}\n", 3, "llm.base_url"),
        ("c.yaml", f"llm: &a\n  base_url:\n    {PASTED}\nb: *a\n", 3, "llm.base_url"),
        ("c.yaml", f"models:\n  - name: a\n    api_base: '{PASTED}'\n", 3, "api_base"),
        ("c.json", f'{{\n  "llm": {{\n    "baseUrl": "{PASTED}"\n  }}\n}}', 3, "llm.baseUrl"),
        ("c.jsonc", f'{{\n  // a note\n  "baseUrl": "{PASTED}", /* two\n lines */ "b": 1\n}}', 3, "baseUrl"),
        ("c.toml", f'[a]\nb = """\nx = 1\n"""\n[c.d]\nbase_url = "{PASTED}"\n', 6, "c.d.base_url"),
        ("c.toml", f'[[m]]\nbase_url = "http://a.example/v1"\n[[m]]\nbase_url = "{PASTED}"\n', 4, "base_url"),
        ("c.toml", f'x = {{ base_url = "{PASTED}" }}\n', 1, "x.base_url"),
        (".env", f"A='1\n2'\nexport LLM_BASE_URL=\"{PASTED}\"\n", 3, "LLM_BASE_URL"),
        ("p.sh", f"A=1 B=2\nexport A=1 LLM_BASE_URL={PASTED}\n", 2, "LLM_BASE_URL"),
        ("p.sh", f"env LLM_BASE_URL={PASTED} python run.py\n", 1, "LLM_BASE_URL"),
        ("f.fish", f"set -gx LLM_BASE_URL '{PASTED}'\n", 1, "LLM_BASE_URL"),
        (
            "compose.yml",
            f"services:\n  a:\n    environment:\n    - LLM_BASE_URL={PASTED}\n",
            4,
            "LLM_BASE_URL",
        ),
    ],
)
def test_a_setting_is_found_at_its_line(name: str, text: str, line: int, key: str) -> None:
    found = [one for one in lint(text.encode(), name=name) if one.rule == "full_endpoint"]
    assert [(one.line, one.key) for one in found] == [(line, key)]


def test_what_stands_before_a_fault_is_still_judged() -> None:
    text = f'base_url = "{PASTED}"\nmodel = broken\n'
    assert [one.rule for one in lint(text.encode(), name="c.toml")] == ["full_endpoint", "toml_syntax"]


def test_a_forgotten_quote_does_not_swallow_the_lines_below() -> None:
    text = 'LLM_API_KEY="sk-EXAMPLE000\nLLM_BASE_URL=http://localhost:8000\n'
    assert [one.rule for one in lint(text.encode(), name=".env")] == ["open_quote", "version_missing"]


def test_the_environment_of_a_compose_service_overrules_its_env_file() -> None:
    compose = b"services:\n  a:\n    environment:\n      OPENAI_MODEL: b\n"
    (found,) = lint_files([(".env", b"OPENAI_MODEL=a\n"), ("compose.yaml", compose)])
    assert (found.file, found.code, found.facts["line"]) == (".env", "env_shadowed", "4")
    passed_on = compose.replace(b": b", b": ${OPENAI_MODEL}")
    assert lint_files([(".env", b"OPENAI_MODEL=a\n"), ("compose.yaml", passed_on)]) == ()


def test_settings_of_a_project_overrule_the_shell() -> None:
    shell = b"export ANTHROPIC_AUTH_TOKEN=sk-EXAMPLE0001\n"
    project = b'{"env": {"ANTHROPIC_AUTH_TOKEN": "sk-EXAMPLE0002"}}'
    (found,) = lint_files([("/home/me/.bashrc", shell), ("app/settings.json", project)])
    assert (found.file, found.code, found.line) == ("/home/me/.bashrc", "env_shadowed", 1)


def test_an_exported_variable_of_the_shell_overrules_the_file() -> None:
    env, profile = b"OPENAI_API_KEY=sk-EXAMPLE0001\n", b"export OPENAI_API_KEY=sk-EXAMPLE0002\n"
    (found,) = lint_files([("app/.env", env), ("/home/me/.bashrc", profile)])
    assert (found.file, found.code, found.line) == ("app/.env", "env_shadowed", 1)
    assert lint_files([("app/.env", env), ("app/env.sh", profile)], reader="docker") == ()
    assert lint_files([("app/.env", env), ("app/env.sh", env.replace(b"OPEN", b"export OPEN"))]) == ()
