"""The vendors' tools as scripts that print recorded shapes, and what the program on a host tells of them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def recorded(name: str) -> str:
    """Return the text of a recorded output; nothing for no name."""
    return (DATA / name).read_text() if name else ""


def printed(text: str, code: int = 0, state: str = "ran", err: str = "") -> dict[str, Any]:
    """What the program on the host tells of a tool that printed `text`."""
    return {"state": state, "code": code, "out": text, "err": err}


def nvidia(gpus: str, apps: str = "", listed: str = "", head: str = "nvidia_head.txt") -> dict[str, Any]:
    """All four questions to nvidia-smi, answered by recorded files."""
    names = {"nvidia_gpus": gpus, "nvidia_apps": apps, "nvidia_list": listed, "nvidia_head": head}
    return {question: printed(recorded(name)) for question, name in names.items()}


def script(folder: Path, tool: str, line: str) -> Path:
    """Put a shell script with the tool's name into the folder; return the folder."""
    folder.mkdir(exist_ok=True)
    place = folder / tool
    place.write_text(f"#!/bin/sh\n{line}\n")
    place.chmod(0o755)
    return folder


def nvidia_script(folder: Path, gpus: Path, apps: Path) -> Path:
    """Play nvidia-smi from two files."""
    files = {"*query-gpu*": gpus, "*query-compute-apps*": apps, "*": DATA / "nvidia_head.txt"}
    cases = " ".join(f"{pattern}) cat {shlex.quote(str(path))};;" for pattern, path in files.items())
    return script(folder, "nvidia-smi", f'case "$*" in {cases} esac')
