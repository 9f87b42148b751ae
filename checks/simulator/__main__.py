"""`python -m checks.simulator`: several scripted servers in one process, until it is told to stop."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from checks.simulator.families import FAMILIES
from checks.simulator.faults import FAULTS
from checks.simulator.server import Server, possible, serve

EXAMPLES = """\
examples:
  --listen 127.0.0.1:8101=vllm
  --listen 127.0.0.1:8102=one-api:key_refused
  --listen 127.0.0.1:8103=vllm:asleep@period=600,for=120    asleep for the last 120 s of each 600 s
"""
LISTEN = re.compile(
    r"(?P<host>\[[0-9a-fA-F:]+\]|[\w.-]+):(?P<port>\d{1,5})=(?P<family>[\w-]+)"
    r"(:(?P<fault>\w+)(@period=(?P<period>\d{1,6}),for=(?P<share>\d{1,6}))?)?"
)
JITTER = 0.35
"""The share by which `--delay-ms` is spread both ways, so that a demo's curves look alive."""


@dataclass(frozen=True, slots=True)
class Order:
    """One server asked for. With a `period` the fault is in force for its last `share` seconds."""

    host: str
    port: int
    family: str
    fault: str | None
    period: int = 0
    share: int = 0

    def fault_at(self, now: float) -> str | None:
        """The fault that is in force at that time, in seconds since the epoch."""
        if not self.period:
            return self.fault
        return self.fault if now % self.period >= self.period - self.share else None

    def next_change(self, now: float) -> float:
        """Seconds from then until the fault comes or goes; a day for one that never does."""
        if not self.period:
            return 86_400.0
        into = now % self.period
        edge = self.period if into >= self.period - self.share else self.period - self.share
        return edge - into


def order(text: str) -> Order:
    """Read one `--listen` value. Raises ArgumentTypeError with a sentence for anything else."""
    found = LISTEN.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not HOST:PORT=FAMILY[:FAULT[@period=SECONDS,for=SECONDS]]"
        )
    family, fault = found["family"], found["fault"]
    if family not in FAMILIES:
        raise argparse.ArgumentTypeError(f"there is no family {family!r}; there are: {', '.join(FAMILIES)}")
    if fault:
        _check_fault(family, fault)
    period, share = int(found["period"] or 0), int(found["share"] or 0)
    if found["period"] and not 0 < share < period:
        raise argparse.ArgumentTypeError(
            f"{text!r}: the fault must last longer than 0 and less than its period"
        )
    if int(found["port"]) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r}: no port is above 65535")
    return Order(found["host"].strip("[]"), int(found["port"]), family, fault, period, share)


def _check_fault(family: str, fault: str) -> None:
    try:
        possible(family, fault)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if FAULTS[fault].certificate:
        raise argparse.ArgumentTypeError(f"the fault {fault!r} needs a certificate, which only `serve` takes")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    said = argparse.ArgumentParser(
        prog="python -m checks.simulator",
        description="Scripted servers that answer, and misbehave, like the real ones.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    said.add_argument(
        "--listen", type=order, action="append", metavar="WHAT", help="one server; may be repeated"
    )
    said.add_argument(
        "--key-env", metavar="NAME", help="the variable that holds the key they want; none by default"
    )
    said.add_argument("--models", default="qwen3-8b", metavar="A,B", help="the model ids they serve")
    said.add_argument(
        "--delay-ms", type=float, default=0.0, metavar="N", help="about how long each answer takes"
    )
    said.add_argument("--faults", action="store_true", help="list the faults and stop")
    return said


def main(arguments: Sequence[str]) -> int:
    """Serve until SIGTERM or Ctrl-C, then return 0; 1 when a port cannot be had."""
    said = parser()
    asked = said.parse_args(arguments)
    if asked.faults:
        for name, fault in FAULTS.items():
            print(f"{name:24} {fault.what} [{fault.expects or 'ok'}]: {' '.join(fault.effects)}")
        return 0
    if not asked.listen:
        said.error("give at least one --listen")
    key = os.environ.get(asked.key_env) if asked.key_env else None
    if asked.key_env and not key:
        said.error(f"the variable {asked.key_env} is not set, or empty")
    models = tuple(filter(None, asked.models.split(",")))
    if not models:
        said.error("--models names no model")
    return _serve(asked.listen, key, models, asked.delay_ms)


def _serve(orders: Sequence[Order], key: str | None, models: tuple[str, ...], delay_ms: float) -> int:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with ExitStack() as stack:
        running: list[tuple[Order, Server]] = []
        for one in orders:
            try:
                server = serve(
                    one.family,
                    key=key,
                    models=models,
                    fault=one.fault_at(time.time()),
                    delay_ms=delay_ms,
                    jitter=JITTER,
                    host=one.host,
                    port=one.port,
                )
            except OSError as error:
                print(f"cannot listen on {one.host}:{one.port}: {error.strerror}", file=sys.stderr)
                return 1
            running.append((one, stack.enter_context(server)))
            print(f"listening {server.base_url} {one.family}", flush=True)
        _keep_time(running, stop)
    return 0


def _keep_time(running: Sequence[tuple[Order, Server]], stop: threading.Event) -> None:
    """Switch timed faults when they are due, until told to stop."""
    while not stop.is_set():
        now = time.time()
        for one, server in running:
            if server.fault != one.fault_at(now):
                server.fault = one.fault_at(now)
        stop.wait(max(0.05, min(one.next_change(now) for one, _ in running)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
