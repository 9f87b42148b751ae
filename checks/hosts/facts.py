"""What a host says of itself, as frozen facts: read over a ground, kept as JSON, read back as strictly."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from checks.hosts.gpus import GpuFacts, read_gpus
from checks.hosts.ground import Ground
from checks.hosts.shape import read

LATEST: Final = 1e11  # a clock beyond, in epoch seconds, tells nothing
FACTS_SECONDS: Final = 30.0  # hard deadline of the whole reading; its parts keep shorter ones


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """`boot_time` in UTC epoch seconds. In a `container`, or where not `sees_all`, processes of others are
    hidden, and nothing follows from not finding one."""

    hostname: str = ""
    user: str = ""
    system: str = ""
    kernel: str = ""
    machine: str = ""
    boot_time: int = 0
    container: bool = False
    sees_all: bool = False


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """Main memory, in bytes."""

    total: int = 0
    available: int = 0


@dataclass(frozen=True, slots=True)
class Disk:
    """A file system that a run writes to, in bytes. `role` is "root", "workdir", "models" (the cache of
    Hugging Face), "temporary" or "shared" (/dev/shm); `device` tells equal ones apart."""

    role: str = ""
    path: str = ""
    device: str = ""
    total: int = 0
    free: int = 0
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Listener:
    """Who listens for TCP. `pid` and `name` are None and empty for other users' processes unless the login
    is root. `traits`: "gateway_no_key", "vllm_dev"."""

    address: str = ""
    port: int = 0
    user: str = ""
    pid: int | None = None
    name: str = ""
    traits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PythonFacts:
    """A Python and the versions of what matters in it; `name` is that of a conda environment. `complaint`
    says why it could not be asked."""

    path: str = ""
    name: str = ""
    version: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    complaint: str = ""


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that steers model clients. `value` of a key is its vendor's public prefix at
    most; addresses have no user-info. `where` is "login" (a login shell), "session" or "both"."""

    name: str = ""
    value: str = ""
    length: int = 0
    where: str = ""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """One reading of a host. `clock_skew` is the host's clock minus ours in seconds, known to within
    `skew_error` (half the round trip); None where it told no time. `python` runs our programs, `team` is
    the team's. `failed` names the parts that could not be read."""

    system: SystemFacts = field(default_factory=SystemFacts)
    memory: MemoryFacts = field(default_factory=MemoryFacts)
    disks: tuple[Disk, ...] = ()
    gpus: GpuFacts = field(default_factory=GpuFacts)
    ports: tuple[Listener, ...] = ()
    python: PythonFacts = field(default_factory=PythonFacts)
    team: PythonFacts = field(default_factory=PythonFacts)
    conda: tuple[PythonFacts, ...] = ()
    environment: tuple[Variable, ...] = ()
    clock_skew: float | None = None
    skew_error: float = 0.0
    failed: tuple[str, ...] = ()

    def variable(self, name: str) -> str | None:
        """Return the value in the team's login environment, None where it is not set there."""
        values = (item.value for item in self.environment if item.name == name and item.where != "session")
        return next(values, None)


def to_json(facts: HostFacts) -> dict[str, Any]:
    """Return the facts as a row keeps them."""
    return asdict(facts)


def from_json(value: object) -> HostFacts:
    """Return the facts of a row; what is absent or has another type is left at its default."""
    return read(HostFacts, value)


async def read_facts(
    ground: Ground,
    *,
    workdir: str = "",
    python: str = "python3",
    activate: str = "",
    run: str,
    seconds: float = FACTS_SECONDS,
) -> HostFacts:
    """Read a host: `python`, `activate` and `workdir` are the team's. Raises GroundLost."""
    request = {"workdir": workdir, "python": python, "activate": activate}
    clock = _Clock()
    answer = await ground.run("facts", request, run=run, seconds=seconds, heard=clock.hear)
    return facts_from(answer, skew=clock.skew, error=clock.error)


def facts_from(answer: object, *, skew: float | None = None, error: float = 0.0) -> HostFacts:
    """Return the facts of the program's answer, with its clock's skew, already measured."""
    told = answer if isinstance(answer, Mapping) else {}
    facts = read(HostFacts, {name: part for name, part in told.items() if name != "gpus"})
    visible = facts.system.sees_all and not facts.system.container
    gpus = read_gpus(told.get("gpus"), told.get("processes"), sees_all=visible)
    return replace(facts, gpus=read(GpuFacts, asdict(gpus)), clock_skew=skew, skew_error=error)


class _Clock:
    """Takes the host's time as it is told, between two looks at ours."""

    def __init__(self) -> None:
        self.asked = time.time()
        self.skew: float | None = None
        self.error = 0.0

    def hear(self, event: Mapping[str, Any]) -> None:
        """Compare with ours: the host told its time somewhere between the asking and now."""
        told = event.get("utc")
        if event.get("event") != "time" or not isinstance(told, float) or not 0 < told < LATEST:
            return
        now = time.time()
        self.error = (now - self.asked) / 2
        self.skew = told - (self.asked + self.error)
