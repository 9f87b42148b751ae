"""Which client libraries there are, which are installed, and which a recipe gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checks import clients
from checks.clients import Library, UnknownLibrary, available, installed, remove, requirement
from checks.clients.environments import STAMP, python_in
from checks.spec import ClientSpec


def put(folder: Path, library: Library) -> Path:
    """A folder as an installation leaves it, without the packages; returns its interpreter."""
    place = library.folder_in(folder)
    place.mkdir(parents=True)
    about = {"name": library.name, "version": library.version, "packages": [str(library)]}
    (place / STAMP).write_text(json.dumps(about))
    return python_in(place)


@pytest.mark.parametrize("name", clients.NAMES)
def test_a_name_alone_means_the_version_of_its_lock(name: str) -> None:
    library = requirement(name)
    assert (library.name, library.is_locked) == (name, True)
    assert requirement(str(library)) == library


def test_a_version_by_number_is_taken_as_it_is() -> None:
    assert requirement("openai==2.15.0") == Library("openai", "2.15.0")
    assert not requirement("openai==2.15.0").is_locked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "requests",
        "openai>=2",
        "openai==",
        "openai==2.*",
        "openai==1;x",
        "../openai",
        "openai[x]==1",
        "-r x",
    ],
)
def test_anything_else_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(UnknownLibrary, match="is none of openai, langchain-openai, litellm"):
        requirement(text)


def test_nothing_is_installed_where_there_is_no_folder(tmp_path: Path) -> None:
    assert installed(tmp_path / "clients") == ()
    assert available(tmp_path / "clients", ()) == ()


def test_without_names_the_newest_of_each_is_given(tmp_path: Path) -> None:
    put(tmp_path, Library("openai", "2.9.1"))
    newer = put(tmp_path, Library("openai", "2.15.0"))
    litellm = put(tmp_path, requirement("litellm"))
    assert available(tmp_path, ()) == (
        ClientSpec("openai", "", str(newer)),
        ClientSpec("litellm", "", str(litellm)),
    )


def test_named_ones_are_given_in_order_and_without_a_python_where_absent(tmp_path: Path) -> None:
    there = put(tmp_path, Library("openai", "2.15.0"))
    assert available(tmp_path, ["litellm", "openai==2.15.0", "openai==2.14.0", "nonsense"]) == (
        ClientSpec("litellm", "", ""),
        ClientSpec("openai", "2.15.0", str(there)),
        ClientSpec("openai", "2.14.0", ""),
    )


def test_what_was_cut_off_or_is_no_environment_does_not_count(tmp_path: Path) -> None:
    (tmp_path / ".making-1234").mkdir()
    (tmp_path / "openai-3.57.0-0123456789ab").mkdir()
    (tmp_path / "file").touch()
    assert installed(tmp_path) == ()


def test_an_environment_of_another_lock_is_listed_as_outdated_and_not_used(tmp_path: Path) -> None:
    library = requirement("openai")
    put(tmp_path, library)
    library.folder_in(tmp_path).rename(tmp_path / f"openai-{library.version}-0123456789ab")
    assert [one.is_current for one in installed(tmp_path)] == [False]
    assert available(tmp_path, ["openai"]) == (ClientSpec("openai", "", ""),)


def test_a_library_is_removed_with_its_folder(tmp_path: Path) -> None:
    library = Library("openai", "2.15.0")
    put(tmp_path, library)
    assert remove(tmp_path, library)
    assert not remove(tmp_path, library)
    assert [place.name for place in tmp_path.iterdir() if place.is_dir()] == []
