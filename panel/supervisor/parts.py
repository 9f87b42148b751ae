"""What `up` runs: the command lines of broker, web server, worker and demo servers."""

from __future__ import annotations

import json
import secrets
import socket
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from panel import broker
from panel.supervisor.child import Plan

THREADS = 8
# What the demo team's endpoints answer like: a name that `manage.py demo` knows, and the simulator's words.
CAST = {
    "vllm": "vllm",
    "sglang": "sglang",
    "litellm": "litellm",
    "refused": "one-api:key_refused",
    "asleep": "vllm:asleep@period=600,for=120",
}
DEMO_KEY = "PREFLIGHT_DEMO_KEY"


def broker_plan() -> Plan:
    """Return the embedded broker; raises BrokerUnavailable where there is none."""
    folder = settings.DATA_DIR / "broker"
    for private in (folder, settings.BROKER_SOCKET.parent):
        broker.private_folder(private)
    command = broker.command(broker.server(), socket=settings.BROKER_SOCKET, folder=folder)
    return Plan("broker", tuple(command), last=True)


def web_plan(door: socket.socket, start_id: str) -> Plan:
    """Return the web server on a socket that is bound already."""
    return Plan(
        "web",
        (
            *(sys.executable, "-m", "gunicorn", "--config", "python:panel.web_server"),
            *("--workers", "1", "--bind", f"fd://{door.fileno()}", "panel.wsgi"),
        ),
        env={"PREFLIGHT_START_ID": start_id},
        pass_fds=(door.fileno(),),
    )


def worker_plan() -> Plan:
    """Return the one worker: threads suit probes, which wait for the network."""
    return Plan(
        "worker",
        (
            *(sys.executable, "-m", "celery", "--app", "panel.celery", "--quiet", "worker"),
            *("--pool", "threads", "--concurrency", str(THREADS), "--queues", settings.ZONE),
            *("--without-gossip", "--without-mingle", "--loglevel", "INFO"),
        ),
    )


@dataclass(frozen=True)
class Demo:
    """Where the demo's servers listen, chosen once for a data folder, and the key they want."""

    ports: dict[str, int]
    key: str

    def plan(self) -> Plan:
        """Return the simulator with the whole cast."""
        listen = [f"--listen=127.0.0.1:{port}={CAST[name]}" for name, port in self.ports.items()]
        command = (sys.executable, "-m", "checks.simulator", *listen, "--key-env", DEMO_KEY)
        return Plan("simulator", (*command, "--delay-ms", "40"), env={DEMO_KEY: self.key})


def remembered_demo(path: Path) -> Demo:
    """Return the demo that the file remembers; make it first, with free ports, when it is absent."""
    if path.is_file():
        kept = json.loads(path.read_text())
        if set(kept["ports"]) == set(CAST):
            return Demo(kept["ports"], kept["key"])
    with ExitStack() as held:
        doors = {name: held.enter_context(socket.create_server(("127.0.0.1", 0))) for name in CAST}
        ports = {name: door.getsockname()[1] for name, door in doors.items()}
    fresh = Demo(ports, f"sk-demo-{secrets.token_hex(12)}")
    path.write_text(json.dumps({"ports": fresh.ports, "key": fresh.key}))
    return fresh
