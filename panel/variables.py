"""How one environment variable is read: typed, or refused with a number and the way to mend it.

No message repeats a value that can hold a password or a key.
"""

from __future__ import annotations

import base64
import binascii
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
from django.core.exceptions import ImproperlyConfigured

env = environ.Env()
TRUE = ("1", "true", "yes", "on")
FALSE = ("0", "false", "no", "off", "")
MASTER_KEY_BYTES = 32
SHORTEST_TOKEN = 24


def refuse(number: int, variable: str, mend: str) -> ImproperlyConfigured:
    """Return the error that stops the start, numbered like the system checks."""
    return ImproperlyConfigured(f"preflight.E{number:03}: {variable}: {mend}")


def flag(variable: str, *, default: bool) -> bool:
    """Return a yes or no; a word that is neither is refused, since a typing error must not mean no."""
    word: str = env.str(variable, default=str(default)).strip().lower()
    if word not in TRUE + FALSE:
        raise refuse(10, variable, "write true or false.")
    return word in TRUE


def count(variable: str, *, default: int) -> int:
    """Return a whole number of zero or more."""
    word: str = env.str(variable, default=str(default)).strip()
    if not word.isdecimal():
        raise refuse(11, variable, "write a whole number.")
    return int(word)


def networks(variable: str, *, default: list[str]) -> tuple[IPv4Network | IPv6Network, ...]:
    """Return a list of address ranges, written as 10.0.0.0/8,fd00::/8."""
    try:
        return tuple(ip_network(part.strip()) for part in env.list(variable, default=default))
    except ValueError as error:
        raise refuse(12, variable, f"{error}. Write networks as 10.0.0.0/8,fd00::/8.") from error


def database(variable: str, *, default: str) -> dict[str, Any]:
    """Return Django's description of the database that a URL names: PostgreSQL or SQLite."""
    try:
        described: dict[str, Any] = env.db(variable, default=default)
    except (ImproperlyConfigured, ValueError) as error:
        raise refuse(13, variable, "write postgres://user:password@host:5432/name.") from error
    if not described.get("ENGINE", "").endswith(("postgresql", "sqlite3")):
        raise refuse(13, variable, "write postgres://user:password@host:5432/name.")
    return described


def redis(variable: str) -> str:
    """Return the address of a Redis or Valkey, or "" when there is none."""
    url: str = env.str(variable, default="")
    if url and not url.startswith(("redis://", "rediss://")):
        raise refuse(14, variable, "write redis://host:6379/0.")
    return url


def zone(variable: str, *, default: str) -> str:
    """Return the name of a time zone that this system knows."""
    name: str = env.str(variable, default=default)
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise refuse(15, variable, "write a time zone such as Asia/Shanghai.") from error


def public_url(variable: str) -> str:
    """Return the address under which people open the panel, without a slash at its end; "" for none."""
    url: str = env.str(variable, default="").strip().rstrip("/")
    parts = urlsplit(url)
    if url and (
        parts.scheme not in ("http", "https") or not parts.netloc or parts.query or "@" in parts.netloc
    ):
        raise refuse(18, variable, "write https://preflight.company.example")
    return url


def call_address(variable: str) -> str:
    """Return an address that is called by GET, "" for none; it may hold a secret, which is never repeated."""
    url: str = env.str(variable, default="").strip()
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc):
        raise refuse(20, variable, "write https://switch.example/ping/…")
    return url


def token(variable: str) -> str:
    """Return a secret that others name to be let in, "" for none; one that can be guessed is refused."""
    value: str = env.str(variable, default="").strip()
    if value and (len(value) < SHORTEST_TOKEN or not value.isascii() or not value.isprintable()):
        raise refuse(21, variable, f"write {SHORTEST_TOKEN} random letters or more.")
    return value


def mail_server(variable: str) -> dict[str, Any]:
    """Return Django's settings of the mail server that a URL names; an empty EMAIL_HOST for none."""
    mend = "write smtp+tls://user:password@mail.company.example:587"
    try:
        described: dict[str, Any] = env.email(variable) if env.str(variable, default="") else {}
    except (ImproperlyConfigured, ValueError, KeyError) as error:
        raise refuse(19, variable, mend) from error
    if described and not (described.get("EMAIL_HOST") and "smtp" in described.get("EMAIL_BACKEND", "")):
        raise refuse(19, variable, mend)
    return {"EMAIL_HOST": ""} | described


def master_keys(variable: str, text: str) -> tuple[str, ...]:
    """Return the entries of a master key ring, newest first, each "<id>:<base64 of 32 bytes>"."""
    entries = tuple(part.strip() for part in text.split(",") if part.strip())
    for position, entry in enumerate(entries, start=1):
        name, _, body = entry.partition(":")
        try:
            size = len(base64.b64decode(body, validate=True))
        except binascii.Error:
            size = 0
        if not name or size != MASTER_KEY_BYTES:
            raise refuse(16, variable, f"entry {position} is not <id>:<base64 of {MASTER_KEY_BYTES} bytes>.")
    return entries


def log_level(variable: str) -> str:
    """Return the name of a level of the standard library's logging."""
    level: str = env.str(variable, default="INFO").upper()
    if level not in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"):
        raise refuse(17, variable, "write DEBUG, INFO, WARNING, ERROR or CRITICAL.")
    return level
