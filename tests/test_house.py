"""The rules of the house that no other tool watches."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parent.parent
TOP = {
    *("manage.py", "pyproject.toml", "requirements.lock", "Makefile", "Dockerfile", "docker-compose.yml"),
    *("README.md", "CHANGELOG.md", "LICENSE", ".env.example", ".gitignore", ".dockerignore", ".ci"),
    *("checks", "panel", "templates", "tests", "docs"),
}
LONGEST_FUNCTION = 50
LONGEST_MODULE = 500
PLACES_OF_READING = ("panel/settings.py", "panel/variables.py")


@cache
def tracked() -> tuple[Path, ...]:
    """Return the files that belong to the project; without git, all files of its rooms."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = [name for name in listed.stdout.split("\0") if name]
    if listed.returncode:
        names = [str(path.relative_to(ROOT)) for room in TOP for path in (ROOT / room).rglob("*")]
    return tuple(path for path in map(ROOT.joinpath, sorted(names)) if path.is_file())


def sources(*rooms: str, ending: str = ".py") -> Iterator[tuple[str, str]]:
    """Yield name and text of the files under some rooms."""
    for path in tracked():
        name = str(path.relative_to(ROOT))
        if name.endswith(ending) and name.startswith(rooms):
            yield name, path.read_text()


def functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_the_top_level_holds_the_agreed_names_alone():
    assert {path.relative_to(ROOT).parts[0] for path in tracked()} <= TOP


def test_no_function_is_longer_than_fifty_lines():
    long = [
        f"{name}:{function.lineno} {function.name}"
        for name, text in sources("checks", "panel", "tests", "manage.py")
        for function in functions(text)
        if (function.end_lineno or 0) - function.lineno >= LONGEST_FUNCTION
    ]
    assert not long


def test_no_module_is_longer_than_five_hundred_lines():
    rooms = ("checks", "panel", "tests", "manage.py")
    long = [name for name, text in sources(*rooms) if text.count("\n") > LONGEST_MODULE]
    assert not [name for name in long if "/migrations/" not in name]  # makemigrations writes at length


def test_every_module_opens_with_a_sentence_on_its_room():
    silent = [
        name
        for name, text in sources("checks", "panel", "tests")
        if text.strip() and not ast.get_docstring(ast.parse(text)) and "/migrations/" not in name
    ]
    assert not silent


def test_no_room_is_a_box_for_anything():
    assert not [
        name for name, _ in sources("checks", "panel", "tests") if re.search(r"util|helper|misc", name)
    ]


def test_every_folder_of_tests_is_a_package_lest_it_shadow_what_it_tests():
    folders = {path.parent for path in tracked() if path.suffix == ".py" and "tests" in path.parts}
    inside = {folder for folder in folders if folder.is_relative_to(ROOT / "tests")}
    assert not [str(folder) for folder in inside if not (folder / "__init__.py").exists()]


@pytest.mark.parametrize("lock", ["requirements.lock", ".ci/requirements.lock"])
def test_a_lock_names_versions_and_hashes_and_no_place(lock: str):
    text = (ROOT / lock).read_text()
    assert not re.search(
        r"https?://|file:|--index|--extra-index|--find-links|--trusted|(?<![\w.-])/\w+/", text
    )
    pinned = re.findall(r"^([\w.-]+)==", text, re.MULTILINE)
    assert len(pinned) == len(re.findall(r"^[\w.-]+==[^\n]*\\\n    --hash=sha256:", text, re.MULTILINE)) > 20


def test_the_lock_holds_every_dependency_that_the_project_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    named = [*project["project"]["dependencies"], *project["dependency-groups"]["test"]]
    wanted = {re.split(r"[\[<>=; ]", line)[0].lower() for line in named}
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    assert wanted <= pinned


def test_templates_hold_no_inline_style_script_or_handler():
    found = [
        f"{name}: {match.group()[:60]}"
        for name, text in sources("templates", ending=".html")
        for match in re.finditer(
            r"<style\b|\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|<script(?![^>]*\bsrc=)[^>]*>|javascript:", text
        )
        if "/mail/" not in name
    ]
    assert not found


def test_every_command_says_what_it_does_and_has_a_documented_module():
    ours = [name for name, app in get_commands().items() if app == "panel"]
    assert ours
    for name in ours:
        assert load_command_class("panel", name).help, name


def test_every_variable_that_is_read_stands_in_the_example():
    read = {
        name
        for path in (
            "panel/settings.py",
            "panel/web_server.py",
            "manage.py",
            "tests/__main__.py",
            "tests/parts.py",
        )
        for name in re.findall(
            r"[\"']((?:PREFLIGHT_\w+|DATABASE_URL|REDIS_URL))[\"']", (ROOT / path).read_text()
        )
    }
    inside = {"PREFLIGHT_START_ID", "PREFLIGHT_SUPERVISOR"}  # set by `up` for its own children
    example = (ROOT / ".env.example").read_text()
    assert not [
        name for name in sorted(read - inside) if not re.search(rf"^(# )?{name}=", example, re.MULTILINE)
    ]


def test_the_environment_is_read_in_few_places():
    readers = {
        name
        for name, text in sources("panel")
        if re.search(r"os\.environ(?!\.setdefault)|os\.getenv|environ\.Env", text)
    }
    assert readers <= {
        *PLACES_OF_READING,
        "panel/celery.py",
        "panel/web_server.py",
        "panel/supervisor/child.py",
    }


def test_the_newest_entry_of_the_changelog_is_the_version():
    assert re.search(r"^## \d+\.\d+\.\d+$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_no_todo_is_left():
    words = re.compile(r"\b(?:TO" r"DO|FIX" r"ME)\b")
    rooms = ("checks", "panel", "tests", "manage.py", "templates")
    assert not [name for ending in (".py", ".html", ".css", ".js")
                for name, text in sources(*rooms, ending=ending) if words.search(text)]  # fmt: skip
