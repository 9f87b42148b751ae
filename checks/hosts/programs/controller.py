"""Runs the team's agent class by the real controller of Agent-Lightning 1.x, and nobody else's rollout.

A controller takes every rollout that waits at its gateway, and marks as failed what others run there
(1.0.2). This one is given a relay on loopback in the gateway's place, which shows it our rollouts alone, with
their agent class, and takes its reports; the agents themselves call the real gateway. So no other rollout
is touched, and no other controller can run ours, which have no class at the gateway itself.

`request`: workdir, python, activate (a shell line), bundle (text for a shell), gateway (its root), key,
rollouts ([{id, train}]), agent ("package.module:Class"), question, question_field, deadline (seconds). Told
meanwhile: "output" (text). No key is in an argument and no file is written. Standard library, Python 3.8+;
`frame.py` goes before it.
"""
# ruff: noqa: F821 - start and end_all are of the frame, which is sent with it

import collections
import hmac
import http.server
import json
import os
import shutil
import subprocess
import threading
import time

OWN_LOOPBACK = "127.0.0.2"  # so that an exception for it in NO_PROXY hides nothing of a gateway on 127.0.0.1
ANY_LOOPBACK = "127.0.0.1"
VERSION_SECONDS = 20.0
VERSION_BYTES = 4096
POLL_SECONDS = 0.1
STOP_SECONDS = 5.0
MAX_PATCH = 65536
MAX_OUTPUT = 262144  # characters told while it runs
TAIL = 8192
PIECE = 8192
TERMINAL = ("succeeded", "failed")
NOT_ACTIVATED = 97
SHELL = (
    ". /dev/fd/%d\nexec %d<&-\n"
    'export AGL_KEY="$PREFLIGHT_GATEWAY_KEY"\nunset PREFLIGHT_GATEWAY_KEY\nexec "$@"'
)
ACTIVATED = "if ! { %s\n}; then exit 97; fi\n"
ASK_VERSION = (
    "import importlib.metadata as m, json, sys\n"
    "try: v = m.version('agentlightning')\n"
    "except m.PackageNotFoundError: v = ''\n"
    "print(json.dumps({'version': v, 'python': '.'.join(map(str, sys.version_info[:3]))}))"
)


def main(request, tell):
    """Run the rollouts; return the version found, how each ended, and the last words on stderr."""
    found = _version(request)
    if found.get("version", "").split(".")[0] != "1":
        return found
    begun = time.monotonic()
    relay = _Relay(request)
    relay.start()
    child, words = _controller(request, relay, tell)
    while child.poll() is None and not relay.done() and time.monotonic() - begun < request["deadline"]:
        time.sleep(POLL_SECONDS)
    told = {"ended": child.poll(), "rollouts": relay.states(), "seconds": time.monotonic() - begun}
    _stop(child)
    end_all(request["run"])
    words.finish()
    return dict(found, complaint=words.complaint(), **told)


def _version(request):
    """The versions in the team's own environment; without "version" where its Python cannot be started."""
    try:
        child = _start(request, ["-c", ASK_VERSION])
    except OSError as error:
        return {"error": "%s: %s" % (type(error).__name__, error)}
    try:
        said, complaint = child.communicate(timeout=VERSION_SECONDS)
    except subprocess.TimeoutExpired:
        end_all(request["run"])
        return {"error": "no end after %d s" % VERSION_SECONDS}
    try:
        lines = said[-VERSION_BYTES:].decode("utf-8", "replace").strip().splitlines()
        found = json.loads(lines[-1])
        return {"version": str(found["version"]), "python": str(found["python"])}
    except (ValueError, IndexError, KeyError, TypeError):
        last = complaint[-VERSION_BYTES:].decode("utf-8", "replace").strip()
        return {"error": last or "exit %s" % child.returncode, "activated": child.returncode != NOT_ACTIVATED}


def _start(request, arguments):
    """Start the team's Python, in its folder, under a shell that prepares its environment."""
    reading, writing = os.pipe()
    activate = ACTIVATED % request["activate"] if request["activate"] else ""
    shell = shutil.which("bash") or "/bin/sh"
    line = activate + SHELL % (reading, reading)
    environment = dict(os.environ, PREFLIGHT_GATEWAY_KEY=request["key"])
    environment.update(PYTHONUNBUFFERED="1", PYTHONDONTWRITEBYTECODE="1")
    for name in ("NO_PROXY", "no_proxy"):
        known = environment.get(name, "")
        environment[name] = (known + "," if known else "") + OWN_LOOPBACK
    try:
        child = start(
            [shell, "-c", line, "preflight", request["python"] or "python3", *arguments],
            run=request["run"],
            env=environment,
            cwd=os.path.expanduser(request["workdir"] or "~"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(reading,),
        )
    except OSError:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    threading.Thread(target=_pour, args=(writing, request["bundle"].encode()), daemon=True).start()
    return child


def _pour(descriptor, data):
    try:
        with os.fdopen(descriptor, "wb") as pipe:
            pipe.write(data)
    except OSError:
        pass  # nobody reads a bundle that was not needed


def _controller(request, relay, tell):
    arguments = ["-m", "agentlightning.controller", "runner_type=local"]
    arguments += ["agl_server.url=" + relay.url, "agl_server.agent_url=" + request["gateway"]]
    arguments += ["agl_server.key=${oc.env:AGL_KEY}", "local_runner.poll_interval=1"]
    # Hydra would write the configuration, with what it was given, into a folder of the project.
    arguments += ["hydra.run.dir=.", "hydra.output_subdir=null"]
    arguments += ["hydra/job_logging=disabled", "hydra/hydra_logging=disabled"]
    child = _start(request, arguments)
    return child, _Words(child, tell)


def _stop(child):
    child.terminate()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass


class _Words:
    """What the controller and its agents print: told as it comes, the end of stderr kept."""

    def __init__(self, child, tell):
        self._tell = tell
        self._left = MAX_OUTPUT
        self._kept = collections.deque(maxlen=64)
        self._readers = [
            threading.Thread(target=self._read, args=(pipe, keep), daemon=True)
            for pipe, keep in ((child.stdout, False), (child.stderr, True))
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, pipe, keep):
        while True:
            piece = pipe.read1(PIECE)
            if not piece:
                return
            text = piece.decode("utf-8", "replace")
            if keep:
                self._kept.append(text)
            if self._left > 0:
                self._left -= len(text)
                self._tell("output", text=text)

    def finish(self):
        """Wait a moment for what was printed last."""
        for reader in self._readers:
            reader.join(1.0)

    def complaint(self):
        """The end of stderr: there the traceback of an agent is."""
        return "".join(self._kept)[-TAIL:]


class _Relay(http.server.ThreadingHTTPServer):
    """Plays the gateway to one controller: our rollouts, and their states as the controller reports them."""

    daemon_threads = True

    def __init__(self, request):
        self._key = request["key"]
        self._rollouts = {one["id"]: _rollout(one, request) for one in request["rollouts"]}
        try:
            super().__init__((OWN_LOOPBACK, 0), _Answer)
        except OSError:
            super().__init__((ANY_LOOPBACK, 0), _Answer)

    @property
    def url(self):
        """Where it listens."""
        return "http://%s:%d" % self.server_address[:2]

    def start(self):
        """Answer from a thread."""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def admits(self, headers):
        """Tell whether a caller has the gateway's key: other users of this machine have not."""
        sent = headers.get("Authorization", "")
        return not self._key or hmac.compare_digest(sent.encode(), ("Bearer " + self._key).encode())

    def listed(self):
        """The first that has not ended: one after the other, so that their words do not mix."""
        return [one for one in self._rollouts.values() if one["status"]["state"] not in TERMINAL][:1]

    def patched(self, ident, status):
        """Take a report; the rollout as it is now, None for one that is not ours."""
        one = self._rollouts.get(ident)
        if one is not None and one["status"]["state"] not in TERMINAL:
            known = {
                name: status[name] for name in ("state", "error_message", "last_attempt_id") if name in status
            }
            one["status"].update(known, updated_at=time.time())
        return one

    def done(self):
        """Tell whether all have come to their end, or one to a bad one."""
        failed = [one for one in self._rollouts.values() if one["status"]["state"] == "failed"]
        return bool(failed) or not self.listed()

    def states(self):
        """How each stands."""
        return {
            ident: {"state": one["status"]["state"], "error": str(one["status"]["error_message"] or "")[:400]}
            for ident, one in self._rollouts.items()
        }


def _rollout(one, request):
    """The rollout as a gateway would list it, with the agent class that the real one does not hold."""
    now = time.time()
    field = request["question_field"] or "question"
    local = {"agent_class": request["agent"], "env_map": _variables(one, request, field)}
    nothing = {"k8s_job_name": None, "last_attempt_id": None, "error_message": None, "version": 1}
    return {
        "rollout_id": one["id"],
        "input": {field: request["question"]},
        "is_train": one["train"],
        "config": {"timeout_seconds": int(request["deadline"]) + 60, "local": local, "k8s": None},
        "metadata": {},
        "status": dict(nothing, state="queuing", created_at=now, updated_at=now),
    }


def _variables(one, request, field):
    """The question under its name, and the gateway's own addresses: 1.0.0 and 1.0.1 pass over `agent_url`
    (agent-lightning #581)."""
    rollout = request["gateway"] + "/proxy/rollout/" + one["id"]
    return {
        field.upper(): "input." + field,
        "AGL_OPENAI_BASE_URL": "%s/attempt/0/mode/%s/openai/v1"
        % (rollout, "train" if one["train"] else "val"),
        "AGL_EVENT_URL": request["gateway"] + "/api/rollouts/" + one["id"] + "/attempt/0/events",
    }


class _Answer(http.server.BaseHTTPRequestHandler):
    """One request of the controller."""

    timeout = 30

    def do_GET(self):
        """The list it polls."""
        if not self.server.admits(self.headers):
            self._say(401, {"detail": "Invalid or missing API key"})
        elif self.path.split("?")[0] == "/api/rollouts":
            self._say(200, self.server.listed())
        else:
            self._say(404, {"detail": "Not Found"})

    def do_PATCH(self):
        """A report on one rollout."""
        ident = self.path.rpartition("/")[2]
        if not self.server.admits(self.headers):
            self._say(401, {"detail": "Invalid or missing API key"})
            return
        try:
            length = min(int(self.headers.get("Content-Length") or 0), MAX_PATCH)
            status = json.loads(self.rfile.read(length).decode()).get("status") or {}
        except (ValueError, AttributeError):
            self._say(422, {"detail": "no status"})
            return
        one = self.server.patched(ident, status)
        self._say(200 if one else 404, one or {"detail": "Rollout not found: " + ident})

    def _say(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Nothing of it belongs into what the team's own programs print."""
