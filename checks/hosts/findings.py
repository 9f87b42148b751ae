"""What stands out on a host before anything runs there: judged from its facts alone, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from checks.hosts.facts import Disk, HostFacts, Listener
from checks.hosts.gpus import Driver, Gpu
from checks.hosts.matrix import clashes
from checks.outcome import Status
from checks.reason import Reason

GIB: Final = 1 << 30
MOST_FINDINGS: Final = 60  # a row's worth; hundreds of dead processes say no more than these
SKEW_DEGRADED: Final = 5.0  # seconds; signed calls and tokens begin to be refused
SKEW_DOWN: Final = 60.0  # seconds; certificates and time-limited keys stop working
HELD_BYTES: Final = 2 * GIB  # a driver and a display hold less
NEARLY_FULL_SHARE: Final = 0.05
NEARLY_FULL_BYTES: Final = 20 * GIB  # a checkpoint of a small model does not fit
FULL_BYTES: Final = GIB
SMALL_SHARED_BYTES: Final = GIB  # Ray keeps its object store in /dev/shm; 64 MiB is a container's default

# Ports that a run of Agent-Lightning takes by default, and words in the names of those it may find there.
_PORTS: Final[Mapping[str, Mapping[int, str]]] = {
    "1.x": {8080: "agl-server", 8181: "agl-server", 8000: "vLLM"},
    "0.x": {4747: "LightningStore", 9999: "AgentLightningServer", 8000: "vLLM"},
    "": {8080: "agl-server", 4747: "LightningStore", 8000: "vLLM"},
}
_OURS: Final = ("agl", "agentlightning", "lightning", "vllm", "sglang", "verl", "ray", "train", "litellm")
# Ray's own ports: the dashboard runs any job for whoever asks, the others take drivers and state.
_RAY_PORTS: Final = {8265: "Ray dashboard", 10001: "Ray client", 6379: "Ray GCS"}
_TRAITS: Final = {"gateway_no_key": "agl-server, no key", "vllm_dev": "vLLM, VLLM_SERVER_DEV_MODE=1"}
_PROXIES: Final = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")  # loopback is called without TLS
_SEVERITY: Final = (Status.DOWN, Status.DEGRADED, Status.NOT_TESTABLE, Status.OK)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that stands out. `say` holds values for the sentence: names, numbers with their unit.
    `NOT_TESTABLE` only informs."""

    reason: Reason
    say: Mapping[str, str]
    status: Status


def findings(
    facts: HostFacts, *, generation: str = "", expected_ports: Mapping[int, str] | None = None
) -> tuple[Finding, ...]:
    """Return the findings, worst first, equal facts in equal order.

    `generation` is "0.x", "1.x" or "" (that of the installed agentlightning). `expected_ports` are the
    ports a run will open, with what opens them; None takes the generation's defaults.
    """
    found = [
        *_clock(facts),
        *_driver(facts),
        *_held(facts),
        *_versions(facts, generation),
        *_taken(facts, _PORTS.get(generation, {}) if expected_ports is None else expected_ports),
        *_exposed(facts),
        *_disks(facts),
        *_proxy(facts),
    ]
    return tuple(sorted(found, key=lambda finding: _SEVERITY.index(finding.status))[:MOST_FINDINGS])


def worst(found: tuple[Finding, ...]) -> Status:
    """Return how a host with these findings is: ok, degraded or down."""
    first = found[0].status if found else Status.OK
    return first if first in (Status.DOWN, Status.DEGRADED) else Status.OK


def _clock(facts: HostFacts) -> Iterator[Finding]:
    if facts.clock_skew is None:
        return
    sure = abs(facts.clock_skew) - facts.skew_error
    if sure >= SKEW_DEGRADED:
        status = Status.DOWN if sure >= SKEW_DOWN else Status.DEGRADED
        yield Finding(Reason.HOST_CLOCK_SKEW, {"seconds": f"{facts.clock_skew:+.0f}"}, status)


def _driver(facts: HostFacts) -> Iterator[Finding]:
    gpus = facts.gpus
    say = {"state": gpus.state.value, "complaint": gpus.complaint}
    if gpus.state in (Driver.MISMATCH, Driver.HUNG, Driver.BROKEN):
        yield Finding(Reason.GPU_DRIVER_BROKEN, say, Status.DOWN)
    elif gpus.state in (Driver.ABSENT, Driver.EMPTY) and "gpus" not in facts.failed:
        yield Finding(Reason.GPU_MISSING, say, Status.NOT_TESTABLE)


def _held(facts: HostFacts) -> Iterator[Finding]:
    """Find memory of processes that are gone, and memory that no listed process holds."""
    for holder in facts.gpus.holders:
        if holder.alive is False:
            say = {"pid": str(holder.pid), "process": holder.name, "memory": _size(holder.used or 0)}
            say["gpu"] = str(holder.gpu) if holder.gpu >= 0 else ""
            yield Finding(Reason.GPU_MEMORY_HELD, say, Status.DEGRADED)
    if not facts.system.sees_all or facts.system.container:
        return
    for gpu in facts.gpus.gpus:
        if _is_held_by_nobody(gpu, facts):
            say = {"pid": "", "process": "", "memory": _size(gpu.used or 0), "gpu": str(gpu.index)}
            yield Finding(Reason.GPU_MEMORY_HELD, say, Status.DEGRADED)


def _is_held_by_nobody(gpu: Gpu, facts: HostFacts) -> bool:
    """MIG reserves memory by itself, and some tools list processes without their GPU: neither is judged."""
    places = {holder.gpu for holder in facts.gpus.holders}
    judged = gpu.vendor == "nvidia" and not gpu.mig and not places & {gpu.index, -1}
    return judged and (gpu.used or 0) >= HELD_BYTES


def _versions(facts: HostFacts, generation: str) -> Iterator[Finding]:
    variables = {item.name: item.value for item in facts.environment if item.where != "session"}
    for clash in clashes(facts.team.packages, generation, facts.team.version, variables):
        say = {"found": clash.found, "wanted": clash.wanted, "python": facts.team.path}
        yield Finding(Reason.VERSIONS_CLASH, say, clash.status)


def _taken(facts: HostFacts, wanted: Mapping[int, str]) -> Iterator[Finding]:
    for port, purpose in sorted(wanted.items()):
        strangers = [item for item in facts.ports if item.port == port and _is_stranger(item, facts)]
        if strangers:
            first = strangers[0]
            say = {"port": str(port), "purpose": purpose, "process": first.name, "user": first.user}
            yield Finding(Reason.PORT_TAKEN, say, Status.DEGRADED)


def _is_stranger(item: Listener, facts: HostFacts) -> bool:
    """Another user's socket is a stranger's, and so is a process whose name none of the team's has; what is
    only called "python" may be anybody's own."""
    if item.user and item.user != facts.system.user:
        return True
    name = item.name.lower()
    return bool(name) and not name.startswith("python") and not any(word in name for word in _OURS)


def _exposed(facts: HostFacts) -> Iterator[Finding]:
    seen: set[tuple[int, str]] = set()
    for item in facts.ports:
        what = _danger(item)
        if what and not _is_loopback(item.address) and (item.port, what) not in seen:
            seen.add((item.port, what))
            say = {"port": str(item.port), "address": item.address, "what": what, "process": item.name}
            yield Finding(Reason.OPEN_PORT_EXPOSED, say, Status.DEGRADED)


def _danger(item: Listener) -> str:
    trait = next((_TRAITS[trait] for trait in item.traits if trait in _TRAITS), "")
    if trait or item.port not in _RAY_PORTS:
        return trait
    other = item.port == 6379 and item.name and not any(word in item.name for word in ("gcs", "ray"))
    return "" if other else _RAY_PORTS[item.port]


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _disks(facts: HostFacts) -> Iterator[Finding]:
    seen: set[str] = set()
    for disk in facts.disks:
        status = _fullness(disk)
        if status is not Status.OK and disk.device not in seen:
            seen.add(disk.device)
            say = {"path": disk.path, "free": _size(disk.free), "total": _size(disk.total)}
            yield Finding(Reason.DISK_NEARLY_FULL, say, status)


def _fullness(disk: Disk) -> Status:
    if disk.total <= 0:
        return Status.OK
    if disk.role == "shared":
        return Status.DEGRADED if disk.free < SMALL_SHARED_BYTES else Status.OK
    if disk.free < FULL_BYTES:
        return Status.DOWN
    tight = disk.free < NEARLY_FULL_SHARE * disk.total or disk.free < NEARLY_FULL_BYTES
    return Status.DEGRADED if tight else Status.OK


def _proxy(facts: HostFacts) -> Iterator[Finding]:
    """A proxy that takes plain calls, and exceptions that leave loopback out: httpx and requests then send
    loopback calls to it."""
    name = next((name for name in _PROXIES if facts.variable(name)), None)
    if name is None:
        return
    spared = (facts.variable("no_proxy") or facts.variable("NO_PROXY") or "").lower()
    entries = {entry.strip().rsplit(":", 1)[0] for entry in spared.split(",")}
    if "*" in entries or {"127.0.0.1", "localhost"} <= entries:
        return
    say = {"variable": name, "proxy": facts.variable(name) or "", "no_proxy": spared}
    yield Finding(Reason.PROXY_ENV_INTERCEPTS_LOOPBACK, say, Status.DEGRADED)


def _size(count: int) -> str:
    return f"{count / GIB:.1f} GiB"
