"""The static files that pages need, gathered when one of them has changed since the last time."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def gather_when_changed(root: Path, stamp: Path) -> bool:
    """Gather all static files into `root` unless `stamp` says they lie there; tell whether it did."""
    wanted = _fingerprint()
    if root.is_dir() and stamp.is_file() and stamp.read_text() == wanted:
        return False
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)
    stamp.write_text(wanted)
    return True


def _fingerprint() -> str:
    """Return a digest over the name, size and time of each file that would be gathered."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            found = Path(storage.path(name)).stat()
            digest.update(f"{name}|{found.st_size}|{found.st_mtime_ns}\n".encode())
    return digest.hexdigest()
