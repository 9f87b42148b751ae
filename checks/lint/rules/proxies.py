"""Rules on proxies: what they take that was meant for the own machine, and schemes that end the client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from typing import Final
from urllib.parse import urlsplit

from checks.hostnames import ip_of, is_loopback
from checks.lint.bases import Base, bases_of
from checks.lint.clients import Through
from checks.lint.finding import CONFIG_SYNTAX, Hit, Rule, caution, error, suspicion
from checks.lint.sheet import Item, Role, Sheet
from checks.reason import Reason

_SCHEME: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")
_PLAIN_PORTS: Final = frozenset((7890, 7891, 7897, 1080, 1087, 3128, 8080, 8118, 8888, 10809, 20171))
_PROXY_TOLD: Final = re.compile(
    r"(?:system|http|https|socks|os|corporate|company|forward|outbound|desktop)[ _-]prox(?:y|ies)\b"
    r"|\bprox(?:y|ies) (?:is|are) (?:on|set|enabled|active)|\bclash\b|\bv2ray|\bsurge\b|\bsquid\b|\bprivoxy\b"
    r"|\bbehind (?:a|the) proxy|全局代理|系统代理|代理已?开启|开(?:着|了)代理|https?_proxy"
)
_BYPASS_TOLD: Final = re.compile(
    r"(?<!no )(?<!without )(?<!missing )\bbypass(?:es|ed)? (?:is set|includes|covers|for (?:loopback|local))"
    r"|no_proxy (?:is set|covers|includes)|proxy is off|no proxy\b(?! bypass)"
)


def _proxies(sheet: Sheet) -> list[Item]:
    noted = [item for item in sheet.noted if item.role is Role.PROXY]
    return [item for item in (*sheet.of(Role.PROXY), *noted) if item.value.strip() and not item.is_reference]


def _bypasses(sheet: Sheet) -> list[Item]:
    return [*sheet.of(Role.NO_PROXY), *(item for item in sheet.noted if item.role is Role.NO_PROXY)]


def _entries(item: Item) -> list[str]:
    return [entry.strip().lower() for entry in item.value.split(",") if entry.strip()][:500]


def _listed(sheet: Sheet) -> set[str]:
    return {entry for item in _bypasses(sheet) for entry in _entries(item)}


def _covers(entries: set[str], host: str) -> bool:
    """Whether exact names or name suffixes, which every client understands, hold this host."""
    parts = host.split(".")
    suffixes = {".".join(parts[start:]) for start in range(len(parts))}
    return "*" in entries or any(entry.lstrip(".").partition(":")[0] in suffixes for entry in entries)


def _near(sheet: Sheet) -> list[Base]:
    """Bases that no proxy should take: loopback, private addresses, bare names."""
    client = sheet.reading.client
    if client and client.through is Through.FETCH and client.name not in ("claude-code",):
        return []  # these clients know no proxy variables
    return [base for base in bases_of(sheet) if base.private]


def _no_bypass(sheet: Sheet) -> Iterator[Hit]:
    proxies = [item for item in _proxies(sheet) if not item.name.lower().startswith("https")]
    listed = _listed(sheet)
    if not proxies:
        return
    for base in _near(sheet):
        in_network = any(_inside(entry, base.host) for entry in listed)
        if not _covers(listed, base.host) and not in_network:
            yield Hit(base.item.line, base.item.key, {"host": base.host, "proxy": proxies[0].name})
            return


def _noted_proxy(sheet: Sheet) -> Iterator[Hit]:
    """A comment says that a proxy is on, and the base URL is on this machine."""
    told = _PROXY_TOLD.search(sheet.remarks) and not _BYPASS_TOLD.search(sheet.remarks)
    if not told or _proxies(sheet):
        return
    for base in _near(sheet):
        if not _covers(_listed(sheet), base.host):
            yield Hit(base.item.line, base.item.key, {"host": base.host})
            return


def _inside(entry: str, host: str) -> bool:
    address = ip_of(host)
    try:
        return "/" in entry and address is not None and address in ip_network(entry, strict=False)
    except ValueError:
        return False


def _is_network(entry: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-f.:]+/\d{1,3}", entry))


def _network_entry(sheet: Sheet) -> Iterator[Hit]:
    """A network in NO_PROXY that alone covers a host: many clients compare names and nothing else."""
    near = [base.host for base in _near(sheet)]
    for item in _bypasses(sheet):
        entries = _entries(item)
        exact = {entry for entry in _listed(sheet) if not _is_network(entry)}
        for entry in (entry for entry in entries if _is_network(entry)):
            needed = any(_inside(entry, host) and not _covers(exact, host) for host in near)
            if needed or (not near and _proxies(sheet)):
                yield Hit(item.line, item.key, {"entry": entry[:60]})
                break


def _pattern_entry(sheet: Sheet) -> Iterator[Hit]:
    for item in _bypasses(sheet):
        pattern = next((e for e in _entries(item) if "*" in e and e != "*" and not e.startswith("*.")), "")
        if pattern:
            yield Hit(item.line, item.key, {"entry": pattern[:60]})


def _bracket_entry(sheet: Sheet) -> Iterator[Hit]:
    for item in _bypasses(sheet):
        if any(entry.startswith("[") for entry in _entries(item)):
            yield Hit(item.line, item.key)


def _separator(sheet: Sheet) -> Iterator[Hit]:
    for item in _bypasses(sheet):
        value = item.value.strip()
        if ";" in value or "\uff0c" in value or ("|" in value):
            yield Hit(item.line, item.key)


def _scheme_of(item: Item) -> str:
    match = _SCHEME.match(item.value)
    return match[1].lower() if match else ""


def _scheme(sheet: Sheet) -> Iterator[Hit]:
    client = sheet.reading.client
    if client and client.through is not Through.HTTPX:
        return
    for item in _proxies(sheet):
        scheme = _scheme_of(item)
        if scheme and scheme not in ("http", "https", "socks5"):
            yield Hit(item.line, item.key, {"scheme": scheme[:20]})


def _socks(sheet: Sheet) -> Iterator[Hit]:
    client = sheet.reading.client
    if client and client.through is not Through.HTTPX:
        return
    for item in _proxies(sheet):
        if _scheme_of(item) == "socks5":
            yield Hit(item.line, item.key)


def _tls_to_proxy(sheet: Sheet) -> Iterator[Hit]:
    for item in _proxies(sheet):
        port, host = _port_and_host(item.value)
        if _scheme_of(item) == "https" and (port in _PLAIN_PORTS or is_loopback(host)):
            yield Hit(item.line, item.key, {"port": str(port or "")})


def _port_and_host(url: str) -> tuple[int | None, str]:
    try:
        split = urlsplit(url.strip())
        return split.port, split.hostname or ""
    except ValueError:
        return None, ""


def _cases_differ(sheet: Sheet) -> Iterator[Hit]:
    by_name: dict[str, Item] = {}
    for item in sheet.of(Role.PROXY, Role.NO_PROXY):
        twin = by_name.setdefault(item.name.lower(), item)
        if "$" in item.value:
            continue  # what the shell had already is added, and nobody here knows what
        if twin.name != item.name and twin.value.strip() != item.value.strip():
            yield Hit(item.line, item.key, {"first": twin.name})


def _credentials(sheet: Sheet) -> Iterator[Hit]:
    """A password with a sign that ends it: more than one @ before the host, or a bare # or /."""
    for item in _proxies(sheet):
        rest = item.value.strip().partition("://")[2]
        before = rest.rpartition("@")[0]
        if "@" in before or re.search(r"[#/?\\ ]", before):
            yield Hit(item.line, item.key)


def _in_container(sheet: Sheet) -> Iterator[Hit]:
    if sheet.reading.container is not True:
        return
    for item in _proxies(sheet):
        if is_loopback(_port_and_host(item.value)[1]):
            yield Hit(item.line, item.key)


RULES: Final[Mapping[str, Rule]] = {
    "proxy_scheme": error(Reason.PROXY_SCHEME_UNSUPPORTED, _scheme),
    "proxy_socks": suspicion(Reason.PROXY_SCHEME_UNSUPPORTED, _socks),
    "proxy_no_bypass": suspicion(Reason.PROXY_ENV_INTERCEPTS_LOOPBACK, _no_bypass),
    "proxy_noted": suspicion(Reason.PROXY_ENV_INTERCEPTS_LOOPBACK, _noted_proxy),
    "bypass_network": suspicion(Reason.PROXY_ENV_INTERCEPTS_LOOPBACK, _network_entry),
    "bypass_pattern": suspicion(Reason.PROXY_ENV_INTERCEPTS_LOOPBACK, _pattern_entry),
    "bypass_separator": error(Reason.PROXY_ENV_INTERCEPTS_LOOPBACK, _separator),
    "bypass_bracket": caution(CONFIG_SYNTAX, _bracket_entry),
    "proxy_tls": suspicion(Reason.HTTPS_TO_HTTP_PORT, _tls_to_proxy),
    "proxy_cases": caution(Reason.ENV_SHADOWED, _cases_differ),
    "proxy_credentials": suspicion(Reason.PROXY_AUTH_REQUIRED, _credentials),
    "proxy_in_container": suspicion(Reason.PROXY_UNREACHABLE, _in_container),
}
