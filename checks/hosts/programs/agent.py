"""Runs a project's agent once on its host, between a relay that records every call it makes.

`request`: workdir, python, activate (a shell line), bundle (text for a shell), base_url of the lane, ca (PEM
or ""), model, agent ("package.module:Class"), question, question_field, deadline (seconds), child (the text
of agent_child.py). Told meanwhile: "output" (text). The agent sees the relay wherever the bundle names the
lane's base URL. Nothing is judged here; no file is written. Standard library, Python 3.8+; `frame.py`,
`shell_environment.py` and `relay.py` go before it.
"""
# ruff: noqa: F821 - start, ours, end_all and Relay are of the parts that are sent with it

import json
import os
import shutil
import subprocess
import threading
import time

MAX_OUTPUT = 262144
MAX_TOLD = 262144  # bytes of what the child tells
TAIL = 4096
PIECE = 16384
WAIT_STEP = 0.05
AFTER_EXIT = 0.2
SHELL_LINES = '%s. /dev/fd/%d\nexec %d<&-\nexec "$@"'
ACTIVATED = "if ! { %s\n}; then exit 97; fi\n"


def main(request, tell):
    """Run the agent; return what it told of itself, its calls, its events and how it ended."""
    relay = Relay(request["base_url"], request.get("ca") or "", time.monotonic() + request["deadline"])
    begun = time.monotonic()
    try:
        child, told = _launch(request, relay)
    except OSError as error:
        return {"error": "%s: %s" % (type(error).__name__, error), "calls": [], "events": []}
    output = _Output(child.stdout, tell)
    overran = _wait(child, begun + request["deadline"])
    if not overran:
        time.sleep(AFTER_EXIT)  # a thread of the agent's may be on its way out
    left = {} if overran else ours(request["run"])
    end_all(request["run"])
    output.finish()
    return {
        "said": told.events(),
        "exit": child.poll(),
        "overran": overran,
        "seconds": time.monotonic() - begun,
        "tail": output.tail(),
        "left": len(left),
        **relay.told(),
    }


def _launch(request, relay):
    """Start the team's Python under a shell that loads the environment; return it and what it will tell."""
    bundle, to_bundle = os.pipe()
    asked, to_asked = os.pipe()
    from_told, told = os.pipe()
    shell = shutil.which("bash") or "/bin/sh"
    activate = ACTIVATED % request["activate"] if request["activate"] else ""
    argv = [request["python"] or "python3", "-B", "-u", "-c", request["child"], str(asked), str(told)]
    try:
        child = start(
            [shell, "-c", SHELL_LINES % (activate, bundle, bundle), "preflight", *argv],
            run=request["run"],
            env=_without_proxy(shell_environment(request["run"]) or os.environ),
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
    _pour(to_asked, json.dumps(_ask_of(request, relay)).encode())
    return child, _Told(from_told)


def _ask_of(request, relay):
    """What the child is to do, and at which addresses it finds the relay."""
    names = ("agent", "question", "question_field", "base_url", "model", "workdir")
    return dict({name: request[name] for name in names}, relay=relay.base_url, event_url=relay.event_url)


def _without_proxy(login):
    """The environment of a login, but that no proxy stands between the agent and the relay."""
    environment = dict(login)
    for name in ("NO_PROXY", "no_proxy"):
        known = environment.get(name, "")
        environment[name] = (known + "," if known else "") + "127.0.0.1"
    return environment


def _pour(descriptor, data):
    """Write to a pipe from a thread: a reader that never reads holds nobody up."""

    def pour():
        try:
            with os.fdopen(descriptor, "wb") as pipe:
                pipe.write(data)
        except OSError:
            pass

    threading.Thread(target=pour, daemon=True).start()


def _wait(child, until):
    while child.poll() is None:
        if time.monotonic() >= until:
            return True
        time.sleep(WAIT_STEP)
    return False


class _Told:
    """What the child tells on its own pipe: one JSON object a line."""

    def __init__(self, descriptor):
        self._data = b""
        self._reader = threading.Thread(target=self._read, args=(descriptor,), daemon=True)
        self._reader.start()

    def _read(self, descriptor):
        with os.fdopen(descriptor, "rb", 0) as pipe:
            while len(self._data) < MAX_TOLD:
                piece = pipe.read(PIECE)
                if not piece:
                    return
                self._data += piece

    def events(self):
        self._reader.join(1.0)
        found = []
        for line in self._data.splitlines():
            try:
                event = json.loads(line.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                found.append(event)
        return found


class _Output:
    """What the agent prints: told line by line up to the cap, read on beyond it, its end remembered."""

    def __init__(self, stream, tell):
        self._stream, self._tell, self._left, self._last = stream, tell, MAX_OUTPUT, b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        pending = b""
        while True:
            piece = os.read(self._stream.fileno(), PIECE)
            pending += piece
            cut = len(pending) if not piece or len(pending) >= PIECE else pending.rfind(b"\n") + 1
            if pending[:cut]:
                self._pass(pending[:cut])
            pending = pending[cut:]
            if not piece:
                return

    def _pass(self, data):
        self._last = (self._last + data)[-TAIL:]
        kept, self._left = data[: self._left], self._left - min(len(data), self._left)
        if kept:
            self._tell("output", text=kept.decode("utf-8", "replace"))

    def finish(self):
        self._reader.join(2.0)

    def tail(self):
        return self._last.decode("utf-8", "replace")
