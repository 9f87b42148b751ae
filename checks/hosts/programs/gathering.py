"""How a program asks many things at once and other programs with a deadline and a cap: goes before it.

Standard library, Python 3.8+; `frame.py` goes before it.
"""

# ruff: noqa: F821 - start is of the frame

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

TERM_SECONDS = 0.5
MAX_TEXT = 65536  # characters kept of a tool's output
MAX_ENVIRONMENT = 262144  # bytes
MAX_VALUE = 500


def side_by_side(parts, seconds):
    """Run all at once; return by name what ended in time and well."""
    found = {}

    def run_one(name):
        try:
            found[name] = parts[name]()
        except Exception:  # noqa: BLE001 - a part may fail alone
            pass

    threads = [threading.Thread(target=run_one, args=(name,), daemon=True) for name in parts]
    until = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return dict(found)


def capture(argv, run, seconds, env=None, cwd=None):
    """Run a command; return its state ("ran", "absent", "hung", "failed"), code and capped output."""
    try:
        process = start(argv, run=run, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        return {"state": "absent", "code": None, "out": "", "err": ""}
    except OSError as error:
        return {"state": "failed", "code": None, "out": "", "err": str(error)[:MAX_VALUE]}
    kept = {"out": b"", "err": b""}

    def read(name, stream):
        kept[name] = stream.read(MAX_ENVIRONMENT)
        stream.close()  # whoever floods us gets SIGPIPE

    streams = (("out", process.stdout), ("err", process.stderr))
    readers = [threading.Thread(target=read, args=pair, daemon=True) for pair in streams]
    until = time.monotonic() + seconds
    for reader in readers:
        reader.start()
    try:
        process.wait(seconds)
        state = "ran"
    except subprocess.TimeoutExpired:
        state = "hung"
        give_up(process)
    for reader in readers:
        reader.join(max(0.2, until - time.monotonic()))
    texts = {name: raw.decode("utf-8", "replace")[:MAX_TEXT] for name, raw in kept.items()}
    return dict(texts, state=state, code=process.returncode)


def give_up(process):
    """Ask a whole session to end, so that a shell may take its locks away, then end it; stuck in a driver,
    it cannot die, and nobody waits for that."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(TERM_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            continue
