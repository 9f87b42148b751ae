"""A plain client for single calls: no proxy, and no list of authorities loaded for each of them."""

from __future__ import annotations

import ssl
from typing import Any

import httpx

NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def call(method: str, url: str, **options: Any) -> httpx.Response:
    """One request on a connection of its own; `options` are those of httpx."""
    settings: dict[str, Any] = {"verify": NO_AUTHORITIES, "trust_env": False} | options
    return httpx.request(method, url, **settings)


def get(url: str, **options: Any) -> httpx.Response:
    """Ask for that address."""
    return call("GET", url, **options)


def post(url: str, **options: Any) -> httpx.Response:
    """Send there."""
    return call("POST", url, **options)
