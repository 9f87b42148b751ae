"""The programs that read our files in earnest: shells, node, python-dotenv. None of them is imitated."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
from pathlib import Path

from dotenv import dotenv_values

from tests.parts import require

CLEAN_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}


def program(name: str) -> str:
    """Find a program; without it the test is skipped by that name, or fails where nothing may be."""
    found = shutil.which(name)
    require(found, name)
    return found or ""


def sourced(shell: str, text: str, folder: Path) -> dict[str, str]:
    """What a child of the shell has in its environment after `set -a; . ./file`."""
    (folder / "file").write_bytes(text.encode())
    done = subprocess.run(
        [program(shell), "-c", "set -a; . ./file; exec /usr/bin/env -0"],
        cwd=folder,
        env=CLEAN_ENVIRONMENT,
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert done.stderr == b""
    pairs = (item.partition("=") for item in done.stdout.decode().split("\0") if item)
    return _without_our_own({name: value for name, _, value in pairs})


def by_node(text: str, folder: Path) -> dict[str, str]:
    """What a node process has in its environment after `--env-file`."""
    (folder / "file").write_bytes(text.encode())
    done = subprocess.run(
        [program("node"), "--env-file=file", "-e", "console.log(JSON.stringify(process.env))"],
        cwd=folder,
        env=CLEAN_ENVIRONMENT,
        capture_output=True,
        timeout=60,
        check=True,
    )
    read: dict[str, str] = json.loads(done.stdout)
    return _without_our_own(read)


def by_dotenv(text: str) -> dict[str, str | None]:
    """What python-dotenv reads, with its expansion on, as `load_dotenv` has it."""
    return dict(dotenv_values(stream=io.StringIO(text)))


def _without_our_own(environment: dict[str, str]) -> dict[str, str]:
    own = {*CLEAN_ENVIRONMENT, "PWD", "OLDPWD", "SHLVL", "_"}
    return {name: value for name, value in environment.items() if name not in own}
