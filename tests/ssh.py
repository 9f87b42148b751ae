"""A real OpenSSH server on loopback, with keys made for the occasion, and hosts that lead to it."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from checks import EgressPolicy, Masked
from checks.spec import HostSpec
from panel.orphans import die_with_parent
from tests.parts import require

LOOPBACK = EgressPolicy((ip_network("127.0.0.0/8"), ip_network("::1/128")))
SEPARATION = Path("/run/sshd")  # where sshd of Debian insists on an empty folder when root starts it
CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 200
MaxSessions 100
LogLevel VERBOSE
SetEnv HOME={folder}/home
"""  # a home of its own: what the account's shell reads at its start may take long, or wait for others
WITHOUT_PENALTIES = "PerSourcePenalties no\n"  # OpenSSH 9.8 and newer would shut loopback out


@dataclass(frozen=True)
class Sshd:
    """A running server. `key` is the private key that may log in as `user`; `host_key` the server's line;
    `folder` holds `authorized_keys`, `log` and `home`, which is HOME of all that runs there."""

    port: int
    user: str
    host_key: str
    key: str
    public_key: str
    folder: Path

    def spec(self, **changes: Any) -> HostSpec:
        """This machine as a host that a lead accepted."""
        known: dict[str, Any] = {
            "code": "host-1",
            "name": "gpu-1",
            "address": "127.0.0.1",
            "port": self.port,
            "user": self.user,
            "host_keys": (self.host_key,),
            "private_key": Masked(self.key),
            "python": sys.executable,
            "egress": LOOPBACK,
        }
        return HostSpec(**{**known, **changes})


@contextmanager
def running_sshd(folder: Path, more: str = "") -> Iterator[Sshd]:
    """Start OpenSSH's server in the foreground; `more` are further lines of its configuration."""
    program = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    require(program, "sshd")
    assert program is not None
    host_key, key = make_key(folder / "host_key"), make_key(folder / "key")
    (folder / "authorized_keys").write_text(key + "\n")
    (folder / "home").mkdir()
    if os.geteuid() == 0:
        SEPARATION.mkdir(mode=0o755, exist_ok=True)
    port = free_port()
    config = _config(program, folder, CONFIG.format(port=port, folder=folder) + more)
    with (folder / "log").open("wb") as log:
        started = subprocess.Popen(
            [program, "-D", "-e", "-f", str(config)],
            stdin=subprocess.DEVNULL,
            stderr=log,
            preexec_fn=partial(die_with_parent, os.getpid()),
        )
    with started:
        try:
            _wait_for(port, started, folder)
            private = (folder / "key").read_text()
            yield Sshd(port, getpass.getuser(), host_key, private, key, folder)
        finally:
            started.terminate()


def make_key(path: Path, kind: str = "ed25519") -> str:
    """Make a key pair with OpenSSH's own tool and return its public line without a comment."""
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "", "-f", str(path)], check=True)
    return path.with_suffix(".pub").read_text().strip()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _config(program: str, folder: Path, text: str) -> Path:
    config = folder / "sshd_config"
    config.write_text(text + WITHOUT_PENALTIES)
    if subprocess.run([program, "-t", "-f", str(config)], capture_output=True, check=False).returncode:
        config.write_text(text)
    return config


def _wait_for(port: int, started: subprocess.Popen[bytes], folder: Path) -> None:
    for _ in range(2000):  # twenty seconds, on a busy machine
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        if started.poll() is not None:
            break
        time.sleep(0.01)
    raise AssertionError(f"sshd did not start: {(folder / 'log').read_text()}")
