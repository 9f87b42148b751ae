"""Public keys as people compare them; no SSH library is needed for it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct


def fingerprint_of(public_line: str) -> str:
    """Return "SHA256:…" of an OpenSSH public key line, as ssh-keygen -l shows it; empty for what is none."""
    kind, _, rest = public_line.strip().partition(" ")
    try:
        blob = base64.b64decode((rest.split() or [""])[0], validate=True)
    except (binascii.Error, ValueError):
        return ""
    name = kind.encode()
    if not name or not blob.startswith(struct.pack(">I", len(name)) + name):  # a key tells its kind itself
        return ""
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode()
    return f"SHA256:{digest.rstrip('=')}"
