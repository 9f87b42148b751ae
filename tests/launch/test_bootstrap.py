"""What `manage.py` does before the command: refuse an old Python, prepare `.venv`, go there.

A folder with the real `manage.py`, a lock of one tiny package, and a `tests` package that says where it runs.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BASE = getattr(sys, "_base_executable", sys.executable)
pytestmark = pytest.mark.embedded  # no service has a part in it: once is enough
SAY_WHERE = "import sys, tiny; print(sys.prefix, tiny.VERSION)"


def make_wheel(folder: Path, version: str) -> str:
    """Write a wheel of the package `tiny`; return its line for a lock."""
    files = {
        "tiny.py": f"VERSION = '{version}'\n",
        f"tiny-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n",
        f"tiny-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},"
        f"{len(text)}\n"
        for name, text in files.items()
    )
    path = folder / f"tiny-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        wheel.writestr(f"tiny-{version}.dist-info/RECORD", record)
    return f"tiny=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


class Clone:
    """A folder with `manage.py` in it, and a shelf of wheels instead of an index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shelf = folder / "shelf"
        self.shelf.mkdir(parents=True)
        (folder / "tests").mkdir()
        (folder / "tests" / "__main__.py").write_text(SAY_WHERE)
        shutil.copy(ROOT / "manage.py", folder)
        self.lock = folder / "requirements.lock"
        self.lock.write_text(make_wheel(self.shelf, "1.0"))

    def command(self, **environment: str) -> subprocess.Popen[str]:
        """Start `manage.py test` with the Python that no virtual environment has."""
        plain = {"PATH": os.defpath, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.shelf)}
        return subprocess.Popen(
            [BASE, str(self.folder / "manage.py"), "test"],
            env={**plain, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, **environment: str) -> tuple[int, str]:
        """Run it to its end; return the exit code and all it said."""
        process = self.command(**environment)
        out, err = process.communicate(timeout=60)
        return process.returncode, out + err


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "clone")


def test_an_old_python_is_refused_in_one_line():
    pretend = (
        "import sys; sys.version_info = (3, 9, 18); import runpy; runpy.run_path('manage.py', None, 'x')"
    )
    done = subprocess.run([BASE, "-c", pretend], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "Preflight needs Python 3.11 or newer; this is 3.9.\n"


def test_an_old_python_can_read_the_file_that_refuses_it():
    tree = ast.parse((ROOT / "manage.py").read_text())
    newer = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Match, ast.Nonlocal)
    assert not [node for node in ast.walk(tree) if isinstance(node, newer)]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.arg) and node.annotation]
    assert not [star for node in ast.walk(tree) if isinstance(node, ast.List) for star in node.elts
                if isinstance(star, ast.Starred)]  # fmt: skip


def test_the_first_start_makes_the_environment_and_runs_in_it(clone: Clone):
    code, said = clone.run()
    assert (code, said.splitlines()[-2:]) == (
        0,
        [f"{clone.folder}/.venv 1.0", "Preflight prepares .venv, once; this takes about half a minute."],
    )


def test_the_second_start_installs_nothing(clone: Clone):
    clone.run()
    shutil.rmtree(clone.shelf)
    assert clone.run() == (0, f"{clone.folder}/.venv 1.0\n")


def test_a_changed_lock_is_installed(clone: Clone):
    clone.run()
    clone.lock.write_text(make_wheel(clone.shelf, "2.0"))
    assert clone.run() == (0, f"{clone.folder}/.venv 2.0\n")


def test_a_package_that_is_not_the_locked_one_is_refused_and_the_next_start_mends_it(clone: Clone):
    right = clone.lock.read_text()
    clone.lock.write_text(right[:-5] + "0000\n")
    code, said = clone.run()
    assert code == 1
    assert "run the same command again" in said
    clone.lock.write_text(right)
    assert clone.run()[0] == 0


def test_without_an_index_the_sentence_says_what_to_look_at(clone: Clone):
    code, said = clone.run(PIP_FIND_LINKS="")
    assert code == 1
    assert "Is the package index reachable from here?" in said


def test_what_the_machine_sets_for_pip_does_not_matter(clone: Clone):
    constraint = clone.folder / "constraints.txt"
    constraint.write_text("tiny==0.5\n")
    settings = {"PIP_CONSTRAINT": str(constraint), "PIP_USER": "1", "PIP_TARGET": str(clone.folder / "else")}
    assert clone.run(**settings, PIP_REQUIRE_VIRTUALENV="1", PIP_NO_BINARY=":all:")[0] == 0


def test_two_first_starts_at_once_both_work(clone: Clone):
    both = [clone.command(), clone.command()]
    assert [process.communicate(timeout=60)[0] for process in both] == [f"{clone.folder}/.venv 1.0\n"] * 2


def test_an_environment_whose_python_is_gone_is_made_anew(clone: Clone):
    clone.run()
    for name in (clone.folder / ".venv" / "bin").glob("python*"):
        name.unlink()
    assert clone.run()[0] == 0


def test_packagers_can_keep_it_from_preparing_anything(clone: Clone):
    code, said = clone.run(PREFLIGHT_NO_BOOTSTRAP="1")
    assert "No module named 'tiny'" in said
    assert code == 1
    assert not (clone.folder / ".venv").exists()
