"""Runs the team's own command on its host: streamed, capped, ended as a whole, and looked after.

`request`: argv, workdir, activate (a shell line), bundle (text for a shell), gpus (indices), deadline
(seconds), output_cap (bytes). Told meanwhile: "output" (text) and "gpu" (MiB used by index). Standard
library, Python 3.8+; `frame.py` and `shell_environment.py` go before it.
"""
# ruff: noqa: F821 - start, ours, end_all and shell_environment are of the parts that are sent with it

import os
import re
import shutil
import subprocess
import threading
import time

GPU_QUERY = ["nvidia-smi", "--query-gpu=index,memory.used", "--format=csv,noheader,nounits"]
GPU_SECONDS = 8.0
GPU_EVERY = 5.0
SETTLE_SECONDS = 5.0  # a driver gives memory back a moment after its process is gone
TELL_EVERY = 0.3
PIECE = 16384
TAIL = 8192
SHOWN_LEFT = 20
AFTER_EXIT = 1.0  # children of a shell that has just ended may be on their way out
TERM_GRACE = 3.0
SHELL_LINES = '%s%s\nexec "$@"'


def main(request, tell):
    """Run the command once; return how it ended and what it left."""
    watch = _Gpus(request["gpus"], tell)
    before = watch.read()
    begun = time.monotonic()
    child = _start(request)
    output = _Output(child.stdout, request["output_cap"], tell)
    overran = _wait(child, request["deadline"], watch)
    seconds = time.monotonic() - begun
    if not overran:
        time.sleep(AFTER_EXIT)
    left = {} if overran else ours(request["run"])
    killed = end_all(request["run"], TERM_GRACE)
    output.finish()
    return {
        "exit": child.poll(),
        "overran": overran,
        "seconds": seconds,
        "bytes": output.total,
        "cut": output.total > request["output_cap"],
        "tail": output.tail(),
        "left": _shown(left),
        "killed": _shown(killed),
        "gpu": {"before": before, "peak": watch.peak, "after": watch.settled(before)},
    }


def _start(request):
    environment = dict(shell_environment(request["run"]) or os.environ, PYTHONUNBUFFERED="1")
    if request["gpus"]:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(str(index) for index in request["gpus"])
    shell = shutil.which("bash") or "/bin/sh"
    reading, writing = os.pipe()
    load = ". /dev/fd/%d\nexec %d<&-" % (reading, reading)
    activate = (request["activate"] + "\n") if request["activate"] else ""
    line = SHELL_LINES % (activate, load)
    try:
        child = start(
            [shell, "-c", line, "preflight"] + request["argv"],
            run=request["run"],
            env=environment,
            cwd=os.path.expanduser(request["workdir"] or "~"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(reading,),
        )
    finally:
        os.close(reading)
    threading.Thread(target=_pour, args=(writing, request["bundle"].encode()), daemon=True).start()
    return child


def _pour(descriptor, data):
    """Give the bundle to the shell that reads it; a shell that never does holds nobody up."""
    try:
        with os.fdopen(descriptor, "wb") as pipe:
            pipe.write(data)
    except OSError:
        pass


def _wait(child, deadline, watch):
    until = time.monotonic() + deadline
    looked = time.monotonic()
    while child.poll() is None:
        if time.monotonic() >= until:
            return True
        if time.monotonic() - looked >= GPU_EVERY:
            watch.read()
            looked = time.monotonic()
        time.sleep(0.1)
    return False


def _shown(processes):
    """Return {pid: program and script}: further arguments may hold what nobody should read."""
    return {str(pid): _brief(command) for pid, command in list(processes.items())[:SHOWN_LEFT]}


def _brief(command):
    words = command.split()
    script = [word for word in words[1:4] if not word.startswith("-") and "=" not in word][:1]
    return " ".join([os.path.basename(word) for word in words[:1] + script])[:120]


class _Output:
    """What the command prints: told in pieces up to the cap, read on beyond it, its end remembered."""

    def __init__(self, stream, cap, tell):
        self.total = 0
        self._left, self._tell, self._stream = cap, tell, stream
        self._pending, self._last = [], b""
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        threading.Thread(target=self._tell_often, daemon=True).start()

    def _read(self):
        while True:
            piece = os.read(self._stream.fileno(), PIECE)
            if not piece:
                return
            with self._lock:
                self.total += len(piece)
                self._last = (self._last + piece)[-TAIL:]
                kept = piece[: self._left]
                self._left -= len(kept)
                if kept:
                    self._pending.append(kept)

    def _tell_often(self):
        while True:
            time.sleep(TELL_EVERY)
            self._flush(whole_lines=True)

    def _flush(self, whole_lines):
        with self._lock:
            data = b"".join(self._pending)
            cut = data.rfind(b"\n") + 1 if whole_lines and len(data) < PIECE else len(data)
            self._pending = [data[cut:]] if data[cut:] else []
            if data[:cut]:
                self._tell("output", text=data[:cut].decode("utf-8", "replace"))

    def finish(self):
        self._reader.join(2.0)
        self._flush(whole_lines=False)

    def tail(self):
        with self._lock:
            return self._last.decode("utf-8", "replace")


class _Gpus:
    """The memory that the GPUs have in use, in MiB by index; empty where nvidia-smi does not say."""

    def __init__(self, wanted, tell):
        self._wanted = set(wanted)
        self._tell = tell
        self.peak = {}

    def read(self):
        try:
            told = subprocess.run(
                GPU_QUERY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                timeout=GPU_SECONDS, check=False,
            ).stdout[:PIECE].decode("utf-8", "replace")  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return {}
        pairs = re.findall(r"^\s*(\d+)\s*,\s*(\d+)", told, re.MULTILINE)
        used = {index: int(mib) for index, mib in pairs if not self._wanted or int(index) in self._wanted}
        for index, mib in used.items():
            self.peak[index] = max(mib, self.peak.get(index, 0))
        if used:
            self._tell("gpu", used=used)
        return used

    def settled(self, before):
        """Return what is in use once the driver has had a moment to give it back."""
        until = time.monotonic() + SETTLE_SECONDS
        after = self.read()
        while any(after.get(index, 0) > mib for index, mib in before.items()) and time.monotonic() < until:
            time.sleep(0.5)
            after = self.read()
        return after
