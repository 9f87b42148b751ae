"""What stands around every program: its request, its way of telling, and an end that nothing outlives.

Standard library, Python 3.8+, sent as text before the program itself. The far side keeps our stdin open:
when it closes (the worker died, the line broke) or the deadline passes, all processes that the program
started are ended, whatever group or session they fled to, and the program with them.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time

MARK = "PREFLIGHT_RUN"  # in the environment of all that a program starts; names the run
PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 3.0  # between asking a process to end and ending it
LONGEST_TEXT = 65536

_writing = threading.Lock()
_ending = threading.Lock()


def start(argv, *, run, env=None, cwd=None, **options):
    """Start a process in a session of its own, marked as ours, without our stdin; returns the Popen."""
    marked = dict(os.environ if env is None else env)
    marked[MARK] = run
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(argv, env=marked, cwd=cwd or None, start_new_session=True, **options)


def ours(run):
    """Return {pid: command line} of all living processes that carry the mark of this run, or descend from
    us without it (one started by `env -i`), but for ourselves."""
    found, parents = {}, {}
    wanted = (MARK + "=" + run).encode()
    for pid in _pids():
        try:
            state, parents[pid] = _state(pid)
            if state in ("Z", "X") or pid == os.getpid():
                continue
            found[pid] = _marked(pid, wanted), _command(pid)
        except (OSError, ValueError, IndexError):
            continue
    return {pid: command for pid, (marked, command) in found.items() if marked or _descends(pid, parents)}


def end_all(run, grace=GRACE_SECONDS):
    """Ask what carries the mark to end, then end it; return {pid: command} of what had to be killed."""
    with _ending:
        for pid in ours(run):
            _signal(pid, signal.SIGTERM)
        until = time.monotonic() + grace
        while time.monotonic() < until:
            _reap()
            if not ours(run):
                return {}
            time.sleep(0.05)
        stubborn = ours(run)
        for _ in range(20):  # what is killed may have forked a moment before
            left = ours(run)
            if not left:
                break
            stubborn.update(left)
            for pid in left:
                _signal(pid, signal.SIGKILL)
            time.sleep(0.05)
            _reap()
        return stubborn


def serve(main):
    """Read the request, run `main(request, tell)`, tell what it returns, and leave nothing behind."""
    source = sys.stdin.buffer
    request = json.loads(source.read(int(source.readline())).decode())
    out = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)  # what a library prints is not for whoever reads our lines
    _become_subreaper()

    def tell(event, **values):
        line = json.dumps(dict(values, event=event), ensure_ascii=True, default=str)
        with _writing:
            try:
                out.write(line.encode() + b"\n")
            except OSError:
                pass

    def leave(code):
        end_all(request["run"], grace=GRACE_SECONDS if code == 0 else 0.2)
        os._exit(code)

    def watch_line():
        source.read(1)
        leave(3)

    def watch_clock():
        time.sleep(request["seconds"])
        tell("overran")
        leave(4)

    tell("up")  # the login and the shell's start files are behind us
    for watch in (watch_line, watch_clock):
        threading.Thread(target=watch, daemon=True).start()
    try:
        value = main(request, tell)
    except BaseException as error:  # noqa: BLE001 - told to who asked, whatever it is
        tell("fault", error=type(error).__name__, text=str(error)[:LONGEST_TEXT])
    else:
        tell("result", value=value)
    leave(0)


def _become_subreaper():
    """Let orphans of our children come to us, so that a double fork does not hide them (Linux)."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def _pids():
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _command(pid):
    with open("/proc/%d/cmdline" % pid, "rb") as line:
        return line.read(4096).replace(b"\0", b" ").decode("utf-8", "replace").strip()


def _state(pid):
    """Return the process's state and its parent."""
    with open("/proc/%d/stat" % pid, "rb") as line:
        state, parent = line.read().rpartition(b")")[2].split()[:2]
    return state.decode(), int(parent)


def _marked(pid, wanted):
    """Tell whether the process carries the mark, or that mark with a suffix; of another user's processes
    nobody may say."""
    try:
        with open("/proc/%d/environ" % pid, "rb") as environment:
            return any(
                one == wanted or one.startswith(wanted + b"-") for one in environment.read().split(b"\0")
            )
    except OSError:
        return False


def _descends(pid, parents):
    seen = set()
    while pid in parents and pid not in seen:
        seen.add(pid)
        pid = parents[pid]
        if pid == os.getpid():
            return True
    return False


def _signal(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def _reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except OSError:
        pass
