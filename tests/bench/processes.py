"""What processes cost, read from /proc: processor time and memory of a whole tree."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PARENT, USER, SYSTEM, REAPED_USER, REAPED_SYSTEM = 1, 11, 12, 13, 14  # after the name in /proc/pid/stat


def cpu_of(root: int) -> float:
    """CPU seconds, user and system, of the process and of all that it started, those that ended included."""
    total = 0
    for fields in _stats(tree(root)):
        total += sum(int(fields[column]) for column in (USER, SYSTEM, REAPED_USER, REAPED_SYSTEM))
    return total / TICKS


def peak_mib(root: int) -> float:
    """The most memory that the processes of the tree that live now had resident, added up."""
    total = 0
    for pid in tree(root):
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return total / 1024


def tree(root: int) -> list[int]:
    """The process and its descendants that live now."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            for fields in _stats([int(entry.name)]):
                children[int(fields[PARENT])].append(int(entry.name))
    found = [root]
    for pid in found:
        found += children[pid]
    return found


def _stats(pids: list[int]) -> list[list[str]]:
    texts = []
    for pid in pids:
        try:
            texts.append(Path(f"/proc/{pid}/stat").read_text())
        except OSError:
            continue
    return [text.rpartition(")")[2].split() for text in texts]
