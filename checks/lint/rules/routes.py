"""Rules on where a base URL leads: version, vendor's root, port, scheme, dialect. A probe decides them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from checks.hostnames import ip_of
from checks.lint.bases import Base, bases_of
from checks.lint.clients import Speech
from checks.lint.finding import Hit, Rule, suspicion
from checks.lint.sheet import Kind, Sheet
from checks.lint.vendors import ANTHROPIC_ROOTS, CHAT_ONLY, DOCUMENT_HOSTS, PORTS, ROOTS, vendor_of
from checks.reason import Reason

_AZURE: Final = re.compile(r"\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|cn|us)$")
_TLS_PORTS: Final = frozenset((443, 8443, 4443))
_SERVE_ROOT: Final = frozenset((4000,))
_PAGE_HOSTS: Final = re.compile(r"^(?:console|docs?|dashboard|portal)\.")
_ANTHROPIC_PATH: Final = re.compile(r"/(?:anthropic|claude-code-proxy|claude)(?=/|$)")


def _hits(sheet: Sheet, wrong: Callable[[Base], bool]) -> Iterator[Hit]:
    for base in bases_of(sheet):
        if base.usable and wrong(base):
            yield Hit(base.item.line, base.item.key, _facts(base))


def _facts(base: Base, **more: str) -> dict[str, str]:
    port = base.port or (443 if base.scheme == "https" else 80)
    roots = " or ".join(root or "/" for root in ROOTS.get(base.host, ())) or "/v1"
    client = base.client.name if base.client else "a client that appends the version itself"
    server = PORTS.get(port, "another server")
    facts = {"host": base.host, "port": str(port), "path": base.path or "/", "root": roots}
    return {**facts, "client": client, "server": server, **more}


def _openai(base: Base) -> bool:
    return base.speech is Speech.OPENAI and not _AZURE.search(base.host)


def _adds_version(base: Base) -> bool:
    return base.client is not None and base.client.adds_version


def _version_doubles(sheet: Sheet) -> Iterator[Hit]:
    """The client appends the version and the value ends in one already."""

    def wrong(base: Base) -> bool:
        elsewhere = base.speech is Speech.ANTHROPIC and _anthropic_elsewhere(base)
        return _adds_version(base) and bool(re.search(r"/v\d+[a-z0-9]*$", base.path)) and not elsewhere

    return _hits(sheet, wrong)


def _version_optional(sheet: Sheet) -> Iterator[Hit]:
    """A host that answers at its root too: without the version the value is right for every client."""

    def wrong(base: Base) -> bool:
        roots = ROOTS.get(base.host, ())
        return base.client is None and _openai(base) and "" in roots and base.path == "/v1"

    if not sheet.format.by_lines:
        return iter(())
    return _hits(sheet, wrong)


def _version_missing(sheet: Sheet) -> Iterator[Hit]:
    return _hits(sheet, lambda base: _lacks_version(base) and not _is_gateway(sheet, base))


def _is_gateway(sheet: Sheet, base: Base) -> bool:
    """Whether a note above calls this Agent-Lightning's gateway, whose root has no version."""
    notes = (sheet.comments.get(base.item.line - above, "") for above in range(4))
    return any("agl-gateway" in note.lower() or "agl gateway" in note.lower() for note in notes)


def _lacks_version(base: Base) -> bool:
    if not _openai(base) or base.has_version or _adds_version(base) or _is_page(base):
        return False
    if base.host in ROOTS:
        roots = ROOTS[base.host]
        return base.path not in roots and any(root.startswith(base.path + "/v") for root in roots)
    return not base.path and base.port not in _SERVE_ROOT


def _wrong_root(sheet: Sheet) -> Iterator[Hit]:
    """A path under which the vendor publishes no OpenAI-compatible API."""

    def wrong(base: Base) -> bool:
        if base.host not in ROOTS or not _openai(base) or _anthropic_path(base):
            return False
        path = base.path + "/v1" if _adds_version(base) and not base.has_version else base.path
        operation_follows = any(path.startswith(root + "/") for root in ROOTS[base.host] if root)
        return path not in ROOTS[base.host] and not _lacks_version(base) and not operation_follows

    return _hits(sheet, wrong)


def _azure_root(sheet: Sheet) -> Iterator[Hit]:
    def wrong(base: Base) -> bool:
        if not _AZURE.search(base.host):
            return False
        allowed = ("", "/openai/v1") if base.speech is Speech.AZURE else ("/openai/v1",)
        deployment = base.speech is not Speech.AZURE and base.path.startswith("/openai/deployments/")
        return base.path not in allowed and not deployment

    return _hits(sheet, wrong)


def _port_missing(sheet: Sheet) -> Iterator[Hit]:
    def wrong(base: Base) -> bool:
        inside = base.loopback or base.host.endswith(".docker.internal") or "." not in base.host
        return base.scheme == "http" and base.port is None and (inside or _private_ip(base))

    return _hits(sheet, wrong)


def _private_ip(base: Base) -> bool:
    return base.private and ip_of(base.host) is not None


def _docker_name(sheet: Sheet) -> Iterator[Hit]:
    """A name that some container runtimes know and others do not."""
    mapped = "host-gateway" in sheet.text

    def wrong(base: Base) -> bool:
        runner = base.host == "model-runner.docker.internal" and base.port is None
        return runner or (base.host == "host.docker.internal" and sheet.kind is Kind.COMPOSE and not mapped)

    return _hits(sheet, wrong)


def _tls_on_plain_port(sheet: Sheet) -> Iterator[Hit]:
    def wrong(base: Base) -> bool:
        if base.scheme != "https" or base.port in _TLS_PORTS:
            return False
        usual = base.port in PORTS and (base.private or base.host.endswith(".docker.internal"))
        return base.loopback or usual or (_private_ip(base) and base.port is not None)

    return _hits(sheet, wrong)


def _plain_on_tls_port(sheet: Sheet) -> Iterator[Hit]:
    return _hits(sheet, lambda base: base.scheme == "http" and base.port in _TLS_PORTS)


def _plain_to_vendor(sheet: Sheet) -> Iterator[Hit]:
    def wrong(base: Base) -> bool:
        public = base.host in ROOTS or base.host in ANTHROPIC_ROOTS or bool(vendor_of(base.host))
        return base.scheme == "http" and base.port is None and public

    return _hits(sheet, wrong)


def _container_loopback(sheet: Sheet) -> Iterator[Hit]:
    container = sheet.reading.container
    likely = container is True or (container is None and sheet.kind is Kind.LITELLM)
    on_host = sheet.kind is Kind.COMPOSE and re.search(r"network_mode:\s*[\"']?host", sheet.text)
    if not likely or on_host:
        return iter(())
    return _hits(sheet, lambda base: base.loopback and base.host != "0.0.0.0")  # noqa: S104 - compared, not bound


def _everywhere_address(sheet: Sheet) -> Iterator[Hit]:
    """0.0.0.0 and :: are addresses to listen on, not to call."""
    return _hits(sheet, lambda base: base.host in ("0.0.0.0", "::"))  # noqa: S104 - compared, not bound


def _other_dialect(sheet: Sheet) -> Iterator[Hit]:
    return _hits(sheet, lambda base: _DIALECT_TESTS[base.speech](base))


def _ollama_elsewhere(base: Base) -> bool:
    return bool(re.search(r"/v\d+$", base.path))


def _openai_elsewhere(base: Base) -> bool:
    ollama = base.port == 11434 and base.path == "/api"
    return ollama or _anthropic_path(base)


def _anthropic_elsewhere(base: Base) -> bool:
    known = ANTHROPIC_ROOTS.get(base.host)
    if known is not None:
        return base.path in ROOTS.get(base.host, ()) and base.path not in known
    return base.host in ROOTS or "/compatible-mode" in base.path or "/paas/" in base.path


def _anthropic_path(base: Base) -> bool:
    return bool(_ANTHROPIC_PATH.search(base.path)) and not base.path.endswith("/openai")


def _azure_elsewhere(base: Base) -> bool:
    return base.host in ROOTS or base.port in PORTS


_DIALECT_TESTS: Final[Mapping[Speech, Callable[[Base], bool]]] = {
    Speech.OLLAMA: _ollama_elsewhere,
    Speech.OPENAI: _openai_elsewhere,
    Speech.ANTHROPIC: _anthropic_elsewhere,
    Speech.AZURE: _azure_elsewhere,
    Speech.OTHER: lambda base: False,
}


def _other_servers_port(sheet: Sheet) -> Iterator[Hit]:
    """Ollama's client, and the usual port of a server that does not speak its dialect."""

    def wrong(base: Base) -> bool:
        return base.speech is Speech.OLLAMA and base.port in PORTS and base.port not in (11434, 12434)

    return _hits(sheet, wrong)


def _no_responses(sheet: Sheet) -> Iterator[Hit]:
    """codex told to speak /responses to a vendor that publishes chat completions alone."""
    if sheet.kind is not Kind.CODEX:
        return
    for base in bases_of(sheet):
        wire = next((other for other in sheet.beside(base.item) if other.name == "wire_api"), None)
        if wire and wire.value == "responses" and base.host in CHAT_ONLY:
            yield Hit(wire.line, wire.key, _facts(base))


def _web_page(sheet: Sheet) -> Iterator[Hit]:
    return _hits(sheet, _is_page)


def _is_page(base: Base) -> bool:
    page = base.host in DOCUMENT_HOSTS or bool(_PAGE_HOSTS.match(base.host))
    return page or (base.host == "openrouter.ai" and not base.path.startswith("/api"))


RULES: Final[Mapping[str, Rule]] = {
    "web_page": suspicion(Reason.BASE_URL_HTML_PAGE, _web_page),
    "version_doubles": suspicion(Reason.BASE_URL_DOUBLE_V1, _version_doubles),
    "version_optional": suspicion(Reason.BASE_URL_DOUBLE_V1, _version_optional),
    "version_missing": suspicion(Reason.BASE_URL_MISSING_V1, _version_missing),
    "wrong_root": suspicion(Reason.BASE_URL_WRONG_PATH, _wrong_root),
    "azure_root": suspicion(Reason.BASE_URL_WRONG_PATH, _azure_root),
    "port_missing": suspicion(Reason.BASE_URL_WRONG_PATH, _port_missing),
    "docker_name": suspicion(Reason.DNS_NXDOMAIN, _docker_name),
    "tls_on_plain_port": suspicion(Reason.HTTPS_TO_HTTP_PORT, _tls_on_plain_port),
    "plain_on_tls_port": suspicion(Reason.HTTP_TO_HTTPS_PORT, _plain_on_tls_port),
    "plain_to_vendor": suspicion(Reason.REDIRECT_BROKEN, _plain_to_vendor),
    "container_loopback": suspicion(Reason.CONTAINER_LOOPBACK, _container_loopback),
    "everywhere_address": suspicion(Reason.CONNECT_TIMEOUT, _everywhere_address),
    "other_servers_port": suspicion(Reason.API_DIALECT_MISMATCH, _other_servers_port),
    "other_dialect": suspicion(Reason.API_DIALECT_MISMATCH, _other_dialect),
    "no_responses": suspicion(Reason.API_DIALECT_MISMATCH, _no_responses),
}
