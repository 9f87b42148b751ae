"""What `up` runs: the command lines of broker, web server, worker and demo servers."""

from __future__ import annotations

import socket
import sys

from django.conf import settings

from panel import broker
from panel.supervisor.child import Plan

THREADS = 8


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
            *("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"),
        ),
    )


def simulator_plan(arguments: list[str], env: dict[str, str]) -> Plan:
    """Return the demo's scripted servers; the key that they want is in the environment."""
    return Plan("simulator", (sys.executable, "-m", "checks.simulator", *arguments), env=env)
