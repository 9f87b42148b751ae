"""Ends what an interrupted run left on this machine: all that carries its mark.

`request`: target (the run whose mark is looked for). Standard library, Python 3.8+; `frame.py` goes before.
"""
# ruff: noqa: F821 - ours and end_all are of the frame, which is sent with it

import os

SHOWN = 20


def main(request, tell):
    """Return the programs that were found and ended, by process id, and those that would not end."""
    target = request["target"]
    found = ours(target)
    end_all(target)
    return {"found": _shown(found), "left": _shown(ours(target))}


def _shown(processes):
    """Return {pid: program}: arguments may hold what nobody should read."""
    pairs = list(processes.items())[:SHOWN]
    return {str(pid): os.path.basename(command.split(" ")[0])[:80] for pid, command in pairs}
