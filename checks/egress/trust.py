"""TLS contexts: built once for each trust setting and shared, since loading a CA bundle costs 30 ms."""

from __future__ import annotations

import ssl
from functools import lru_cache
from pathlib import Path

import certifi


def trusting(ca_file: str | None) -> ssl.SSLContext:
    """Return the context that verifies servers, with the CA of `ca_file` (a PEM path) besides the public
    ones. A file that changed is read again. Raises OSError or ssl.SSLError for an unusable file."""
    if ca_file is None:
        return _context(None, 0, 0)
    stat = Path(ca_file).stat()
    return _context(ca_file, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=1)
def looking() -> ssl.SSLContext:
    """Return the context of the second look: it verifies nothing and serves only to read the leaf of a
    server that was already refused; no request is ever sent over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@lru_cache(maxsize=32)
def _context(ca_file: str | None, modified_ns: int, size: int) -> ssl.SSLContext:
    """The system's trust store and certifi's (what the clients of the chain trust between them), plus
    one file, whose time and size are part of the cache's key."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    context.set_alpn_protocols(["http/1.1"])
    return context
