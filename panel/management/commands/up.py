"""`manage.py up`: the whole panel on one machine, from one command, until Ctrl-C."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import socket
import sys
from argparse import ArgumentParser

import redis
from django.conf import settings
from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from panel.actions import teams
from panel.broker import BrokerUnavailable
from panel.management.demo_team import read_or_make_plan
from panel.supervisor import doors, parts
from panel.supervisor.loop import Supervisor
from panel.supervisor.static_files import gather_when_changed

BROKER_STARTS_S = 10.0
WEB_STARTS_S = 60.0


class Command(BaseCommand):
    """Starts broker, web server and worker, and keeps them running."""

    help = "Start Preflight on this machine: broker, web server and worker, until Ctrl-C."
    requires_system_checks = (Tags.security,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to listen, and whether to bring the demo team."""
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="the port to listen on (8000)")
        parser.add_argument("--demo", action="store_true", help="add a demo team, fed by simulated servers")

    def handle(self, *args: object, host: str, port: int, demo: bool, **options: object) -> None:
        """Run until Ctrl-C; end with exit code 1 and a sentence when the start or a child fails."""
        os.umask(0o077)  # what is written from here on is this user's alone
        run = settings.DATA_DIR / "run"
        run.mkdir(mode=0o700, parents=True, exist_ok=True)
        supervisor = Supervisor(self._write)
        try:
            with (
                doors.only_one(run / "up.lock", _address(host, port)),
                doors.bound(host, port) as door,
                supervisor.listening(),
            ):
                self._start(supervisor, door, _address(host, port), demo=demo)
                supervisor.run()
        except (doors.DoorShut, BrokerUnavailable) as error:
            sys.exit(str(error))
        if supervisor.failure:
            sys.exit(f"Preflight gives up: {supervisor.failure}")

    def _write(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()

    def _start(self, supervisor: Supervisor, door: socket.socket, address: str, *, demo: bool) -> None:
        """Start all parts in order and say where the page is; return early when one fails."""
        if not settings.REDIS_URL and not _start_broker(supervisor):
            return
        call_command("migrate", interactive=False, verbosity=0)
        gather_when_changed(settings.STATIC_ROOT, settings.DATA_DIR / "run" / "static.stamp")
        if demo:
            played = read_or_make_plan(settings.DATA_DIR)
            key = {"PREFLIGHT_DEMO_KEY": played.key.reveal()}
            supervisor.start(parts.simulator_plan(played.listen_arguments(), key))
            news = _demo_team()
        else:
            news = _setup_link(address)
        _let_go_of_the_database()
        if supervisor.stopping:
            return
        start_id = secrets.token_hex(8)
        supervisor.start(parts.web_plan(door, start_id))
        supervisor.start(parts.worker_plan())
        host, port = door.getsockname()[:2]
        if supervisor.wait_until(
            lambda: doors.answering(_reach(host), port, doors.accepted_host()) == start_id, WEB_STARTS_S
        ):
            supervisor.say(_welcome(address, news))
        elif not supervisor.stopping:
            supervisor.failure = f"the page did not answer within {WEB_STARTS_S:.0f} seconds."


def _start_broker(supervisor: Supervisor) -> bool:
    """Start the embedded broker and tell whether it listens; one that a killed start left is ended first."""
    plan = parts.broker_plan()
    if doors.accepts(settings.BROKER_SOCKET):
        with contextlib.suppress(redis.RedisError):
            redis.Redis(unix_socket_path=str(settings.BROKER_SOCKET)).shutdown()
    supervisor.start(plan)
    listening = supervisor.wait_until(lambda: doors.accepts(settings.BROKER_SOCKET), BROKER_STARTS_S)
    if not listening and not supervisor.stopping:
        supervisor.failure = "the broker did not open its socket."
    return listening


def _demo_team() -> list[str]:
    """Make the demo team and return how its people sign in."""
    said = io.StringIO()
    call_command("demo", stdout=said)
    return said.getvalue().splitlines()


def _setup_link(address: str) -> list[str]:
    """Return the one-time link that makes the first owner, or nothing when somebody has an account."""
    token = teams.make_setup_link(now=timezone.now())
    if token is None:
        return []
    return [
        "Nobody has an account yet. This link makes the first one, once:",
        address + reverse("setup", args=[token]),
    ]


def _let_go_of_the_database() -> None:
    """Close what migrating opened; a connection pool would leave threads, which make a fork unsafe."""
    connection.close()
    if hasattr(connection, "close_pool"):
        connection.close_pool()


def _welcome(address: str, news: list[str]) -> str:
    place = f"Its data lies in {settings.DATA_DIR}. Ctrl-C stops it."
    lines = [f"Preflight is ready: {address}", place, *([""] if news else []), *news]
    return "\n".join(["", *(f"  {line}".rstrip() for line in lines), ""])


def _address(host: str, port: int) -> str:
    """Return the address a person opens."""
    shown = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104 - only shown
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def _reach(host: str) -> str:
    """Return where a socket bound to every address can be asked."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - only asked
