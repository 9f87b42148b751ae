"""What the team's process on this machine would find around it: variables of the login environment, `.env`
files in its working folder, the proxy in its way. No secret leaves: of keys a salted mark and a length.

`request`: names (which variables matter), secret (which of them are keys), salt, url (the lane's), no_proxy
(what the bundle adds), activate, workdir. Standard library, Python 3.8+; `frame.py` and
`shell_environment.py` go before it.
"""
# ruff: noqa: F821 - the frame and shell_environment are sent with it

import hashlib
import os
import re
import urllib.parse

FILES = (".env", ".env.local")
MAX_FILE = 65536
MAX_VALUE = 300
LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=[ \t]*(.*)")
QUOTED = re.compile(r"""(['"])(.*?)\1\s*(?:#.*)?$""")
STEERING = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


def main(request, tell):
    """Return what was found, each variable as its value or, for a key, as mark and length."""
    told = shell_environment(request["run"], request["activate"], request["workdir"])
    environment = dict(os.environ) if told is None else told
    folder = os.path.expanduser(request["workdir"] or "~")
    files = {name: _entries(os.path.join(folder, name)) for name in FILES}
    steering = {name: value for name, value in environment.items() if name.upper() in STEERING and value}
    return {
        "environment": _described(environment, request),
        "files": {name: _described(entries, request) for name, entries in files.items() if entries},
        "steering": {name: without_login(value)[:MAX_VALUE] for name, value in steering.items()},
        "proxy": _proxy(request, environment),
        "proxy_with_bundle": _proxy(request, _with_bundle(environment, request["no_proxy"])),
    }


def _described(entries, request):
    """Return {name: how its value may be told} of the variables that matter and are set."""
    return {
        name: _marked(entries[name], request["salt"])
        if name in request["secret"]
        else {"value": without_login(entries[name])[:MAX_VALUE]}
        for name in request["names"]
        if entries.get(name)
    }


def _marked(value, salt):
    return {"mark": hashlib.sha256((salt + value).encode()).hexdigest()[:12], "length": len(value)}


def _entries(path):
    """Return what python-dotenv would read, but for values of many lines and references."""
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_FILE).decode("utf-8", "replace")
    except OSError:
        return {}
    found = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            quoted = QUOTED.match(match.group(2))
            plain = re.split(r"\s#", match.group(2))[0].strip()
            found[match.group(1)] = quoted.group(2) if quoted else plain
    return found


def _proxy(request, environment):
    """Return the variable and the proxy in the lane's way."""
    parts = urllib.parse.urlsplit(request["url"])
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = proxy_for(parts.scheme, parts.hostname or "", port, environment)
    return found and [found[0], without_login(found[1])[:MAX_VALUE]]


def _with_bundle(environment, no_proxy):
    listed = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    return dict(environment, no_proxy=",".join(part for part in (no_proxy, listed) if part))
