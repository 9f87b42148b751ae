"""`manage.py clients`: what it says, and where it keeps things."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from checks.clients import Library, requirement
from checks.clients.environments import STAMP
from panel.client_environments import available, folder


@pytest.fixture
def data(tmp_path: Path, settings) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def put(library: Library) -> None:
    place = library.folder_in(folder())
    place.mkdir(parents=True)
    (place / STAMP).write_text(json.dumps({"name": library.name, "version": library.version}))


def said(*arguments: str) -> str:
    out = StringIO()
    call_command("clients", *arguments, stdout=out)
    return out.getvalue()


def test_an_empty_list_names_the_command(data: Path) -> None:
    assert "manage.py clients install" in said("list")


def test_what_is_installed_is_listed_and_offered_to_recipes(data: Path) -> None:
    put(requirement("openai"))
    put(Library("litellm", "1.74.15"))
    assert said("list").splitlines() == [str(requirement("openai")), "litellm==1.74.15"]
    assert [spec.name for spec in available(())] == ["openai", "litellm"]
    assert all(spec.python.startswith(str(data / "clients")) for spec in available(()))


def test_a_library_is_removed_by_its_name_and_version(data: Path) -> None:
    put(Library("litellm", "1.74.15"))
    assert said("remove", "litellm==1.74.15") == "litellm==1.74.15: removed\n"
    with pytest.raises(CommandError, match="is not installed"):
        said("remove", "litellm==1.74.15")


def test_removing_nothing_in_particular_is_refused(data: Path) -> None:
    with pytest.raises(CommandError, match="Name what to remove"):
        said("remove")


def test_an_unknown_library_is_refused_in_words(data: Path) -> None:
    with pytest.raises(CommandError, match="is none of openai"):
        said("install", "requests")


@pytest.mark.clients
def test_an_installation_says_where_it_went(data: Path) -> None:
    assert f"packages in {data / 'clients'}" in said("install", "openai")
    assert [spec.name for spec in available(["openai"]) if spec.python] == ["openai"]
