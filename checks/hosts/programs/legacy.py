"""Runs one dry run of Agent-Lightning 0.x in the project's environment, and ends it: it may never by itself.

`request`: workdir, python, activate (a shell line), bundle (text for a shell), base_url, key and model of the
endpoint, agent ("package.module:Class", empty for one of ours), question, question_field, deadline
(seconds), child (the text of legacy_child.py). Told meanwhile: "output" (text). No key is in an argument or a
file. Standard library, Python 3.8+; `frame.py` goes before it.
"""
# ruff: noqa: F821 - start and end_all are of the frame, which is sent with it

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

MAX_OUTPUT = 262144
MAX_TOLD = 262144
TAIL = 32768
PIECE = 8192
POLL_SECONDS = 0.1
NOT_ACTIVATED = 97
SHELL = '. /dev/fd/%d\nexec %d<&-\nexec "$@"'
ACTIVATED = "if ! { %s\n}; then exit 97; fi\n"
ASKED = ("base_url", "key", "model", "agent", "question", "question_field")


def main(request, tell):
    """Run it under its deadline; return what it told, how it ended, and the last of what it printed."""
    folder = tempfile.mkdtemp(prefix="preflight-")  # the proxy of 0.3.0 leaves its settings in a file
    try:
        return _run(request, tell, folder)
    finally:
        end_all(request["run"])
        shutil.rmtree(folder, ignore_errors=True)


def _run(request, tell, folder):
    begun = time.monotonic()
    try:
        child, told = _launch(request, folder)
    except OSError as error:
        return {"error": "%s: %s" % (type(error).__name__, error), "events": []}
    output = _Output(child.stdout, tell)
    events = _Events(told)
    # Its end is told: what it started may keep it from ending, or go on without it.
    while child.poll() is None and not events.ended and time.monotonic() - begun < request["deadline"]:
        time.sleep(POLL_SECONDS)
    early = child.poll()
    overran = early is None and not events.ended
    end_all(request["run"])
    output.finish()
    return {
        "events": events.told(),
        "exit": early,
        "activated": early != NOT_ACTIVATED,
        "overran": overran,
        "seconds": time.monotonic() - begun,
        "tail": output.tail(),
    }


def _launch(request, folder):
    bundle, to_bundle = os.pipe()
    asked, to_asked = os.pipe()
    from_told, told = os.pipe()
    activate = ACTIVATED % request["activate"] if request["activate"] else ""
    argv = [request["python"] or "python3", "-B", "-u", "-c", request["child"], str(asked), str(told)]
    try:
        child = start(
            [
                shutil.which("bash") or "/bin/sh",
                "-c",
                activate + SHELL % (bundle, bundle),
                "preflight",
                *argv,
            ],
            run=request["run"],
            env=dict(os.environ, TMPDIR=folder, PYTHONDONTWRITEBYTECODE="1"),
            cwd=os.path.expanduser(request["workdir"] or "~"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(bundle, asked, told),
        )
    except OSError:
        for descriptor in (to_bundle, to_asked, from_told):
            os.close(descriptor)
        raise
    finally:
        for descriptor in (bundle, asked, told):
            os.close(descriptor)
    _pour(to_bundle, request["bundle"].encode())
    _pour(to_asked, json.dumps({name: request[name] for name in ASKED}).encode())
    return child, from_told


def _pour(descriptor, data):
    """Write to a pipe from a thread: a reader that never reads holds nobody up."""

    def pour():
        try:
            with os.fdopen(descriptor, "wb") as pipe:
                pipe.write(data)
        except OSError:
            pass

    threading.Thread(target=pour, daemon=True).start()


class _Events:
    """What the child tells, one JSON object a line."""

    def __init__(self, descriptor):
        self._text = b""
        self._reader = threading.Thread(target=self._read, args=(descriptor,), daemon=True)
        self._reader.start()

    @property
    def ended(self):
        """Tell whether it has said its last word."""
        return b'"event": "error"' in self._text or b'"stage": "end"' in self._text

    def _read(self, descriptor):
        with os.fdopen(descriptor, "rb", 0) as pipe:
            while len(self._text) < MAX_TOLD:
                piece = pipe.read(PIECE)
                if not piece:
                    return
                self._text += piece

    def told(self):
        """All whole lines."""
        self._reader.join(1.0)
        found = []
        for line in self._text.splitlines():
            try:
                found.append(json.loads(line.decode("utf-8", "replace")))
            except ValueError:
                continue
        return found


class _Output:
    """What it prints: told as it comes, its end kept."""

    def __init__(self, pipe, tell):
        self._tail = ""
        self._left = MAX_OUTPUT
        self._reader = threading.Thread(target=self._read, args=(pipe, tell), daemon=True)
        self._reader.start()

    def _read(self, pipe, tell):
        while True:
            piece = pipe.read1(PIECE)
            if not piece:
                return
            text = piece.decode("utf-8", "replace")
            self._tail = (self._tail + text)[-TAIL:]
            if self._left > 0:
                self._left -= len(text)
                tell("output", text=text)

    def finish(self):
        """Wait a moment for what was printed last."""
        self._reader.join(1.0)

    def tail(self):
        """The end of it."""
        return self._tail
