"""Ask one question through a real client library, in a shell that has read the exported bundle.

The bundle comes on a pipe, and the user's kind of shell reads it, so that exactly what was exported is
what the client sees; neither it nor the key is ever an argument or a file.
"""
# ruff: noqa: F821 - start and end_all stand in frame.py, shell_environment in its file; both go before this

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import threading
import time

MAX_TOLD = 262144  # bytes of what the client's side tells
MAX_COMPLAINT = 2000  # bytes kept of its stderr
MARGIN_SECONDS = 1.5  # kept back of the deadline to tell what was found

# Each step that is the team's own tells by its name that it failed, on the pipe of the results.
LOST = 'printf \'{"lost": "%s"}\\n\' > /dev/fd/%d'
ACTIVATE = "{ %s\n} || { %s; exit 1; }\n"
FIND = 'command -v "$0" > /dev/null || { %s; exit 1; }\n'
LOAD = '. /dev/fd/%d\nexec "$0" "$@"\n'


def main(request, tell):
    until = time.monotonic() + request["seconds"] - MARGIN_SECONDS
    workdir = os.path.expanduser(request["workdir"])
    if workdir and not os.path.isdir(workdir):
        return {"lost": "workdir"}
    bundle_read, bundle_write = os.pipe()
    told_read, told_write = os.pipe()
    process = start(
        shell_of(request, bundle_read, told_write),
        run=request["run"],
        env=shell_environment(request["run"]) if request["login"] else None,
        cwd=workdir,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=(bundle_read, told_write),
    )
    os.close(bundle_read)
    os.close(told_write)
    complaint = bytearray()
    in_background(feed, os.fdopen(bundle_write, "wb"), request["bundle"].encode())
    in_background(feed, process.stdin, json.dumps(request["asked"]).encode())
    in_background(keep_end, process.stderr, complaint)
    found = read_story(told_read, until)
    end_all(request["run"], grace=0.5)
    found["complaint"] = bytes(complaint).decode("utf-8", "replace")
    return found


def shell_of(request, bundle, told):
    """The shell's arguments: bash for a lead's line, which may need it, else the plainest there is."""
    script = ""
    if request["activate"]:
        script += ACTIVATE % (request["activate"], LOST % ("activate", told))
    script += FIND % (LOST % ("python", told)) + LOAD % bundle
    shell = (shutil.which("bash") if request["activate"] else None) or "/bin/sh"
    isolated = [] if request["login"] else ["-I"]
    python = os.path.expanduser(request["python"])
    return [shell, "-c", script, python, *isolated, "-B", "-c", request["inside"], str(told)]


def in_background(target, *arguments):
    threading.Thread(target=target, args=arguments, daemon=True).start()


def feed(pipe, content):
    try:
        with pipe:
            pipe.write(content)
    except OSError:
        pass


def keep_end(pipe, kept):
    while True:
        part = os.read(pipe.fileno(), 4096)
        if not part:
            return
        kept += part
        del kept[:-MAX_COMPLAINT]


def read_story(descriptor, until):
    """Read lines until the other side closes, floods or is late; return them as one record."""
    content = b""
    overran = False
    while len(content) < MAX_TOLD:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            overran = True
            break
        part = os.read(descriptor, 65536)
        if not part:
            break
        content += part
    os.close(descriptor)
    found = {"overran": overran}
    for line in content.splitlines():
        try:
            told = json.loads(line.decode())
        except ValueError:
            continue
        if isinstance(told, dict):
            found.update(told)
    return found
