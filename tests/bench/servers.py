"""Servers for a figure, each of its own on loopback: database, broker, what is probed, and the peer."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PEER_PROGRAMS = ("prometheus", "prometheus-blackbox-exporter")
STARTS_WITHIN_S = 30.0
QUESTION = json.dumps(
    {
        "model": "bench-model",
        "messages": [{"role": "user", "content": "Reply with one short word."}],
        "max_tokens": 256,
    }
)

# Answers any chat and hangs up; counts what came by the first part of its path.
TARGET = """
import asyncio, collections, json
message = {"role": "assistant", "content": "Hello"}
body = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "bench-model",
                   "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                   "usage": {"prompt_tokens": 8, "completion_tokens": 4, "total_tokens": 12}}).encode()
head = (b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\nconnection: close\\r\\n"
        b"content-length: %d\\r\\n\\r\\n")
answer = head % len(body) + body
asked = collections.Counter()

class Target(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.got = transport, b""

    def data_received(self, data):
        self.got += data
        if b"\\r\\n\\r\\n" not in self.got:
            return
        first = self.got.split(b" ", 2)[1].split(b"/", 2)[1].decode()
        asked[first] += 1
        told = json.dumps(asked).encode()
        self.transport.write(head % len(told) + told if first == "stats" else answer)
        self.transport.close()

async def main():
    server = await asyncio.get_running_loop().create_server(Target, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])


@contextmanager
def process(command: list[str], *, port: int = 0, env: dict[str, str] | None = None, log: Path | None = None):
    """A process of this figure, ended with all that it started; its port is open when this begins."""
    out = log.open("wb") if log else subprocess.DEVNULL
    started = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        if port:
            _wait_for(port, started)
        yield started
    finally:
        started.send_signal(signal.SIGTERM)
        try:
            started.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait(20)
        if log:
            out.close()


@contextmanager
def postgres(folder: Path) -> Iterator[tuple[str, int]]:
    """A fresh PostgreSQL with its usual settings: its URL, and the pid of its postmaster."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    data, port = folder / "pg", free_port()
    data.mkdir()
    as_user: list[str] = []
    if os.getuid() == 0:  # initdb refuses to run as root
        shutil.chown(data, "postgres")
        folder.chmod(0o711)
        as_user = ["runuser", "-u", "postgres", "--"]
    made = ["--pgdata", str(data), "--auth", "trust", "--username", "postgres", "--encoding", "UTF8"]
    subprocess.run(
        [*as_user, str(programs / "initdb"), *made, "--no-sync"],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd="/",
    )
    options = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
    command = [*as_user, str(programs / "postgres"), "-D", str(data), "-p", str(port), *options]
    with process(command, port=port, log=folder / "pg.log"):
        postmaster = int((data / "postmaster.pid").read_text().split()[0])
        try:
            yield f"postgres://postgres@127.0.0.1:{port}/postgres", postmaster
        finally:
            os.kill(postmaster, signal.SIGINT)


@contextmanager
def redis(folder: Path) -> Iterator[tuple[str, int]]:
    """A fresh Redis that keeps nothing on disk: its URL and pid."""
    port = free_port()
    command = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(folder)]
    with process(command, port=port) as started:
        yield f"redis://127.0.0.1:{port}/0", started.pid


@contextmanager
def target() -> Iterator[int]:
    """A small server that answers any chat at once: its port. Its own processor time is nobody's cost."""
    with subprocess.Popen([sys.executable, "-c", TARGET], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        try:
            yield int(started.stdout.readline())
        finally:
            started.terminate()


def asked(port: int) -> dict[str, int]:
    """How many requests the target got so far, by the first part of their path."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=5) as answer:
        counted: dict[str, int] = json.load(answer)
    return counted


def missing_peer() -> str:
    """Say which of the peer's programs are absent; empty when none is."""
    absent = [name for name in PEER_PROGRAMS if shutil.which(name) is None]
    return f"absent: {', '.join(absent)} (Debian packages)" if absent else ""


@contextmanager
def blackbox(folder: Path) -> Iterator[tuple[int, int]]:
    """The peer's prober, asking the same question over a new connection: its port and pid."""
    port = free_port()
    chat = {
        "method": "POST",
        "headers": {"Content-Type": "application/json", "Authorization": "Bearer sk-bench"},
        "body": QUESTION,
        "fail_if_body_not_matches_regexp": ['"choices"'],
        "preferred_ip_protocol": "ip4",
    }
    config = folder / "blackbox.yml"
    config.write_text(json.dumps({"modules": {"chat": {"prober": "http", "timeout": "10s", "http": chat}}}))
    command = [PEER_PROGRAMS[1], f"--config.file={config}", f"--web.listen-address=127.0.0.1:{port}"]
    with process([*command, "--log.level=error"], port=port) as started:
        yield port, started.pid


@contextmanager
def prometheus(folder: Path, exporter: int, urls: list[str], interval_s: int) -> Iterator[int]:
    """The peer's scheduler and storage, probing these URLs through the exporter's port: its pid."""
    (folder / "targets.json").write_text(json.dumps([{"targets": urls}]))
    relabel = [
        {"source_labels": ["__address__"], "target_label": "__param_target"},
        {"source_labels": ["__param_target"], "target_label": "instance"},
        {"target_label": "__address__", "replacement": f"127.0.0.1:{exporter}"},
    ]
    job = {
        "job_name": "probe",
        "metrics_path": "/probe",
        "params": {"module": ["chat"]},
        "file_sd_configs": [{"files": [str(folder / "targets.json")]}],
        "relabel_configs": relabel,
    }
    pace = {"scrape_interval": f"{interval_s}s", "scrape_timeout": "10s"}
    config, port = folder / "prometheus.yml", free_port()
    config.write_text(json.dumps({"global": pace, "scrape_configs": [job]}))
    command = [PEER_PROGRAMS[0], f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}"]
    listen = f"--web.listen-address=127.0.0.1:{port}"
    with process([*command, listen, "--log.level=error"], port=port) as started:
        yield started.pid


def _wait_for(port: int, started: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < ends:
        if started.poll() is not None:
            raise RuntimeError(f"{started.args} ended at its start")
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{started.args} did not start")
