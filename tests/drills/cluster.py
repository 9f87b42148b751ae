"""A PostgreSQL of a drill's own, which it may stop and start."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.launch.started import free_port
from tests.parts import require

START_S = 60


@dataclass(frozen=True)
class Cluster:
    """`programs` is where PostgreSQL's own programs lie."""

    programs: Path
    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Where its database is."""
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start, and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        self._control("start", "--wait", "--log", str(self.folder / "log"), "--options", options)

    def stop(self, mode: str) -> None:
        """Stop it: "fast" as a restart does, "immediate" as a crash does."""
        self._control("stop", "--mode", mode)

    def make(self) -> None:
        """Write an empty one."""
        told = ("--auth", "trust", "--username", "postgres", "--encoding", "UTF8", "--no-sync")
        self._run("initdb", *told)

    def _control(self, deed: str, *more: str) -> None:
        self._run("pg_ctl", deed, "--timeout", str(START_S), *more)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), "--pgdata", str(self.folder / "pg"), *arguments]
        if os.getuid() == 0:  # it refuses to run as root
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(
            command, check=True, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            timeout=2 * START_S,
        )  # fmt: skip


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Make and start one on a free port of loopback; stop it and take it away."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    require(found, "PostgreSQL's initdb")
    folder = Path(tempfile.mkdtemp(prefix="pf-pg-"))
    folder.chmod(0o711)
    (folder / "pg").mkdir(mode=0o700)
    if os.getuid() == 0:
        shutil.chown(folder / "pg", "postgres")
        shutil.chown(folder, "postgres")
    own = Cluster(found[-1].parent, folder, free_port())
    try:
        own.make()
        own.start()
        yield own
    finally:
        _end(own)


def _end(own: Cluster) -> None:
    try:
        own.stop("immediate")
    except subprocess.CalledProcessError:
        pass  # it is stopped already
    finally:
        shutil.rmtree(own.folder, ignore_errors=True)
