"""What a person's shell on this machine would hand to a program: goes before the programs that ask for it.

Standard library, Python 3.8+; `frame.py` goes before it.
"""
# ruff: noqa: F821 - start and MARK are of the frame, which is sent with it

import os
import pwd
import shutil
import subprocess

SHELL_SECONDS = 8.0
MAX_ENVIRONMENT = 1 << 20
SHELLS = ("bash", "zsh", "sh", "dash", "ksh", "ash", "fish")
BEGINS = b"\0PREFLIGHT-ENVIRONMENT\0"  # what start files print comes before it


def shell_environment(run, activate="", workdir="", seconds=SHELL_SECONDS):
    """Return the environment of a login shell in `workdir` after the line `activate`; None where the shell
    gives none in time."""
    script = "%s\nprintf '\\000PREFLIGHT-ENVIRONMENT\\000'; env -0" % activate
    folder = os.path.expanduser(workdir or "~")
    try:
        child = start(
            [_shell(), "-lc", script],
            run=run,
            cwd=folder if os.path.isdir(folder) else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        said = child.communicate(timeout=seconds)[0][:MAX_ENVIRONMENT]
    except (OSError, subprocess.SubprocessError):
        said = b""
    pairs = [part.partition(b"=") for part in said.rpartition(BEGINS)[2].split(b"\0") if b"=" in part]
    found = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    found.pop(MARK, None)
    return found or None


def _shell():
    """The login shell where it takes the options of the usual ones, else bash."""
    try:
        named = pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        named = ""
    usual = os.path.basename(named) in SHELLS and os.access(named, os.X_OK)
    return named if usual else shutil.which("bash") or "/bin/sh"


def proxy_for(scheme, host, port, environment):
    """Return (variable, URL) of the proxy that httpx, and with it the OpenAI client, would go through;
    None where it would go directly. A lower-case name wins, and an empty one unsets, as urllib has it."""
    named = {}
    for lower in (False, True):
        for name, value in environment.items():
            low = name.lower()
            if not low.endswith("_proxy") or (lower and name != low):
                continue
            if value:
                named[low[:-6]] = (name, value)
            elif lower:
                named.pop(low[:-6], None)
    chosen = named.get(scheme) or named.get("all")
    if chosen is None or _goes_directly(host, port, named.get("no", ("", ""))[1]):
        return None
    return chosen[0], chosen[1] if "://" in chosen[1] else "http://" + chosen[1]


def _goes_directly(host, port, listed):
    """Whether NO_PROXY names the host, as httpx reads it: exact addresses, names with all below them, a port
    where one is given; no ranges."""
    for part in listed.lower().split(","):
        part = part.strip().rpartition("://")[2]
        if part in ("*", host) or part.strip("[]") == host:
            return True
        name, colon, number = part.rpartition(":")
        if colon and number.isdigit() and "]" not in number and ":" not in name.strip("[]"):
            if int(number) != port:
                continue
            part = name
        if part == host or (part and host.endswith("." + part.lstrip("."))):
            return True
    return False


def without_login(url):
    """Return a URL without the user and password in it."""
    before, sign, rest = url.rpartition("@")
    return before.partition("://")[0] + "://" + rest if sign and "://" in before else rest
