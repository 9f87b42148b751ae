"""An environment is there whole or not at all, and no installation waits for ever."""

from __future__ import annotations

import fcntl
import subprocess
from pathlib import Path

import pytest

from checks.clients import CannotInstall, Library, install, requirement
from checks.clients.environments import GUARD, STAMP, ensure, stamp_of


def folders(folder: Path) -> list[str]:
    return [place.name for place in folder.iterdir() if place.is_dir()]


def test_an_attempt_that_fails_leaves_nothing_and_says_why(tmp_path: Path) -> None:
    with pytest.raises(CannotInstall, match=r"none\.whl"):
        ensure(tmp_path / "one", ["/nowhere/none.whl"])
    assert folders(tmp_path) == []


def test_a_step_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(CannotInstall, match="No end after"):
        ensure(tmp_path / "one", ["/nowhere/none.whl"], seconds=0.01)
    assert folders(tmp_path) == []


def test_two_installations_do_not_run_at_once(tmp_path: Path) -> None:
    with (tmp_path / GUARD).open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        with pytest.raises(CannotInstall, match="Another installation"):
            ensure(tmp_path / "one", [], seconds=0.3)


def test_what_an_attempt_that_was_killed_has_left_is_cleared(tmp_path: Path) -> None:
    (tmp_path / ".making-0123").mkdir()
    with pytest.raises(CannotInstall):
        ensure(tmp_path / "one", ["/nowhere/none.whl"])
    assert folders(tmp_path) == []


def test_a_password_of_an_index_is_not_in_the_complaint(tmp_path: Path) -> None:
    wanted = ["--index-url", "http://user:s3cretword@127.0.0.1:9/simple", "--no-deps", "openai==0.0.99"]
    with pytest.raises(CannotInstall) as caught:
        ensure(tmp_path / "one", [*wanted, "--no-cache-dir"], seconds=120)
    assert "s3cretword" not in str(caught.value)


@pytest.mark.clients
@pytest.mark.parametrize("library", [requirement("openai"), Library("openai", "2.15.0")], ids=str)
def test_a_library_is_installed_once_and_its_packages_recorded(tmp_path: Path, library: Library) -> None:
    found = install(tmp_path, library)
    asked = "import openai,sys; print(openai.__version__, sys.prefix)"
    ended = subprocess.run([str(found.python), "-I", "-c", asked], capture_output=True, text=True, timeout=60)
    assert ended.stdout.split() == [library.version, str(found.folder)], ended.stderr
    assert str(library) in found.packages
    stamp = (found.folder / STAMP).stat().st_mtime_ns
    assert install(tmp_path, library) == found
    assert (found.folder / STAMP).stat().st_mtime_ns == stamp
    assert (stamp_of(found.folder) or {})["version"] == library.version
