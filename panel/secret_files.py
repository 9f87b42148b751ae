"""The embedded instance's own secrets: generated once, kept in 0600 files under the data folder."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
from pathlib import Path


def read_or_create_secret(path: Path) -> str:
    """Return the file's content; make it first, readable by its owner alone, when it is absent.

    The content is "k1:<base64 of 32 random bytes>", the form of one master key. Two processes that
    start together agree on one value, since the finished file is linked into place.
    """
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write("k1:" + base64.b64encode(secrets.token_bytes(32)).decode())
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
        fresh.unlink()
    return path.read_text().strip()
