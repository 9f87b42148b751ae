"""How a child process learns that its parent is gone, so that a killed supervisor leaves nothing behind."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

PR_SET_PDEATHSIG = 1  # linux/prctl.h
LOOK_EVERY_S = 1.0
# Opened here: between a fork and an exec as little as possible may happen.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent(parent: int) -> None:
    """On Linux, ask the kernel to kill this process when the thread that started it ends.

    Meant for the child's side of a fork, before the exec: the wish survives the exec but not a second
    fork. `parent` is the pid that forked; if that has ended already, so does this process. Elsewhere
    it does nothing; Python children call `watch_parent` there.
    """
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def watch_parent(parent: int) -> None:
    """Where the kernel does not watch, look each second whether `parent` (a pid) is still the parent."""
    if _LIBC is None:
        start_watch(parent)


def start_watch(parent: int) -> threading.Thread:
    """Return the started thread that kills this process when its parent is no longer `parent`."""
    thread = threading.Thread(target=_leave_when_orphaned, args=(parent,), name="orphan-watch", daemon=True)
    thread.start()
    return thread


def _leave_when_orphaned(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    os.kill(os.getpid(), signal.SIGKILL)
